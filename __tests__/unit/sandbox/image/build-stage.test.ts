import { cp, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleOperator, repository } from '../../../../sandbox/image/bundle';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'build-stage-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function dockerignore(): Promise<{ through: string[]; left: string[] }> {
  const [everything, ...lines] = (await readFile(join(repository, '.dockerignore'), 'utf8'))
    .trim()
    .split('\n');
  expect(everything).toBe('*');
  return {
    through: lines.filter((line) => line.startsWith('!')).map((line) => line.slice(1)),
    left: lines.filter((line) => !line.startsWith('!')).map((line) => join(repository, line)),
  };
}

/**
 * Makes the content of the build stage: the files that .dockerignore does not exclude, and installed
 * packages.
 */
async function buildContext(): Promise<string> {
  const context = join(folder, 'context');
  const { through, left } = await dockerignore();
  for (const name of through)
    await cp(join(repository, name), join(context, name), {
      recursive: true,
      filter: (source) => !left.includes(source),
    });
  for (const packages of ['node_modules', 'operator/node_modules'])
    await symlink(join(repository, packages), join(context, packages));
  return context;
}

/** Bundles the operator. The output is not build/, which another test may be reading. */
async function bundle(root: string, name: string): Promise<Buffer[]> {
  const output = join(folder, name);
  await bundleOperator(root, output);
  return Promise.all(['operator.cjs', 'kubectl-hub.cjs'].map((file) => readFile(join(output, file))));
}

describe('the build stage of the Dockerfile', () => {
  test('has the files that .dockerignore does not exclude, and no others', async () => {
    const text = await readFile(join(repository, 'Dockerfile'), 'utf8');
    const copies = [...text.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, paths]) =>
      paths!.split(' '),
    );
    const folders = new Set(copies.map((path) => path.split('/')[0]!));
    expect([...folders].sort()).toEqual([...(await dockerignore()).through].sort());
  });

  test('has all parts of the bundle, and makes an equal bundle', async () => {
    const made = await bundle(await buildContext(), 'made');
    const expected = await bundle(repository, 'expected');
    expect(await readFile(join(folder, 'made', 'third-party-licenses.txt'), 'utf8')).toMatch(
      /^axios \d\S+ \(MIT\)\n[^]*Permission is hereby granted/m,
    );
    expect(made.map((content, index) => content.equals(expected[index]!))).toEqual([true, true]);
  });
});
