import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { sectionOf } from '../../../release/changelog';
import { HELM_BUILD_TIMEOUT } from '../../cluster/helm';

const repository = join(__dirname, '../../..');
const VERSION = '9.8.7';
const IMAGE = `registry.example/hub-operator@sha256:${'ab'.repeat(32)}`;
const run = async (folder: string, program: string, ...args: string[]) =>
  (await promisify(execFile)(program, args, { cwd: folder, maxBuffer: 2 ** 26 })).stdout;

let root: string;
let folder: string;

/** Clones the repository with its history, and copies the files as they are in this folder. */
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'release-'));
  // The folder is deep, so that a path that is one level off does not end at the root of the file system,
  // where it would work again.
  folder = join(root, 'home', 'of', 'a', 'person');
  await run(repository, 'git', 'clone', '--quiet', '--local', repository, folder);
  const changed = await run(repository, 'git', 'ls-files', '--cached', '--others', '--exclude-standard');
  for (const name of changed.split('\n').filter(Boolean)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await copyFile(join(repository, name), join(folder, name)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error; // the file was removed, and that is not committed yet
    });
  }
  for (const name of ['node_modules', 'operator/node_modules'])
    await symlink(join(repository, name), join(folder, name));
});

afterAll(() => rm(root, { recursive: true, force: true, maxRetries: 10 }));

/**
 * Runs the release as the Makefile does. `make` itself would install the packages of the copy, through the
 * link to them.
 */
const release = async (version: string, image: string) =>
  (
    await promisify(execFile)('node_modules/.bin/tsx', ['release/index.ts'], {
      cwd: folder,
      env: { ...process.env, VERSION: version, IMAGE: image },
    })
  ).stdout;
const released = async (name: string) => readFile(join(folder, 'build/release', name), 'utf8');

describe('make release', () => {
  test(
    'makes files that are tried one by one, and equal bytes when it is run again',
    async () => {
      expect(await release(VERSION, IMAGE)).toContain(`git tag v${VERSION}`);
      const first = await released('SHA256SUMS');
      await release(VERSION, IMAGE);
      expect(await released('SHA256SUMS')).toBe(first);

      const names = (await readdir(join(folder, 'build/release'))).sort();
      expect(names).toEqual([
        'NOTES.md',
        'SHA256SUMS',
        'crds.yaml',
        `hub-operator-${VERSION}.tgz`,
        'install-namespaced.yaml',
        'install.yaml',
        `kubectl-hub-${VERSION}.tgz`,
        'kubectl-hub.cdx.json',
        'kubectl-hub.cjs',
        'operator.cdx.json',
      ]);
      const listed = first.trimEnd().split('\n');
      expect(listed.map((line) => line.split('  ')[1])).toEqual(
        names.filter((name) => name !== 'SHA256SUMS'),
      );
      // The packages in a bundle. commander is only in that of the command line.
      const components = async (name: string) =>
        (JSON.parse(await released(name)) as { components: { name: string }[] }).components.map(
          ({ name }) => name,
        );
      expect(await components('operator.cdx.json')).toEqual(
        expect.arrayContaining(['axios', 'pino', 'yaml']),
      );
      expect(await components('kubectl-hub.cdx.json')).toContain('commander');

      // Files that are committed with the release.
      for (const name of ['dist/install.yaml', 'dist/namespaced/install.yaml', 'dist/chart/values.yaml'])
        expect(await readFile(join(folder, name), 'utf8')).not.toContain('registry.invalid');
      expect(await readFile(join(folder, 'README.md'), 'utf8')).toContain(`hub-operator:${VERSION}`);
      const changelog = await readFile(join(folder, 'CHANGELOG.md'), 'utf8');
      expect(sectionOf(changelog, VERSION)).toContain((await released('NOTES.md')).trim());
      expect(changelog.match(/^## /gm)).toHaveLength(1);
    },
    HELM_BUILD_TIMEOUT,
  );

  test('refuses an image without a digest before it changes a file', async () => {
    const before = await run(folder, 'git', 'status', '--porcelain');
    await expect(release('9.9.9', 'registry.example/hub-operator:9.9.9')).rejects.toMatchObject({
      stderr: expect.stringContaining('names no image by digest') as string,
    });
    expect(await run(folder, 'git', 'status', '--porcelain')).toBe(before);
  });
});
