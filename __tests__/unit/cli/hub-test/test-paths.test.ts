import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { findTests, testsInAppliedFolders } from '../../../../cli/test/test-paths';

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'hub-test-'));
});
afterEach(() => rm(directory, { recursive: true }));

async function written(...names: readonly string[]): Promise<void> {
  for (const name of names) {
    await mkdir(dirname(join(directory, name)), { recursive: true });
    await writeFile(join(directory, name), '');
  }
}

const at = (name: string) => join(directory, name);
const inDirectory = (paths: readonly string[]) => paths.map((path) => relative(directory, resolve(path)));
const testsOf = async (...paths: readonly string[]) => inDirectory((await findTests(paths.map(at))).tests);

describe('findTests', () => {
  test('tests are below the path and in the folder tests beside it', async () => {
    await written('home/a.yaml', 'home/b.hubtest.yaml', 'home/rooms/c.hubtest.yml', 'tests/d.hubtest.yaml');
    await written(
      'tests/deep/e.hubtest.yaml',
      'other/f.hubtest.yaml',
      'tests/g.yaml',
      'home/.hidden/h.hubtest.yaml',
    );
    expect(await testsOf('home')).toEqual([
      'home/b.hubtest.yaml',
      'home/rooms/c.hubtest.yml',
      'tests/d.hubtest.yaml',
      'tests/deep/e.hubtest.yaml',
    ]);
  });

  test('beside a file, too, and each file once', async () => {
    await written('home/a.yaml', 'home/b.yaml', 'home/tests/c.hubtest.yaml');
    expect(await testsOf('home/a.yaml', 'home/b.yaml', 'home')).toEqual(['home/tests/c.hubtest.yaml']);
    await symlink(at('home/tests/c.hubtest.yaml'), at('home/tests/d.hubtest.yaml'));
    expect(await testsOf('home')).toEqual(['home/tests/c.hubtest.yaml']);
  });

  test('a test file that is named runs alone', async () => {
    await written('home/a.yaml', 'tests/b.hubtest.yaml', 'tests/c.hubtest.yaml');
    const found = await findTests([at('home'), at('tests/c.hubtest.yaml')]);
    expect(inDirectory(found.tests)).toEqual(['tests/c.hubtest.yaml']);
    expect(inDirectory(found.resources)).toEqual(['home']);
  });

  test('without a test the remedy is reported', async () => {
    await written('home/a.yaml');
    await expect(findTests([at('home')])).rejects.toThrow(
      `there is no test in ${at('home')}, nor in a folder tests beside it: write one into tests/NAME.hubtest.yaml`,
    );
    await expect(findTests(['-'])).rejects.toThrow('there is no test in -');
  });

  test('a path that does not exist is named', async () => {
    await expect(findTests([at('nowhere')])).rejects.toThrow('there is no such file or directory');
  });
});

describe('testsInAppliedFolders', () => {
  const warningsOf = (tests: readonly string[], resources: readonly string[]) =>
    testsInAppliedFolders(tests.map(at), resources.map(at));

  test('a test in a folder with resources is a warning with a remedy', async () => {
    await written('home/a.yaml', 'home/rooms/t.hubtest.yaml');
    const [warning, ...others] = await warningsOf(['home/rooms/t.hubtest.yaml'], ['home/a.yaml']);
    expect(others).toEqual([]);
    expect(warning).toContain('t.hubtest.yaml is in the folder');
    expect(warning).toContain('kubectl apply -R and Flux refuse a file without apiVersion');
    expect(warning).toMatch(
      /Move it into \S*tests, or name it in \S*home\/\.sourceignore: \*\.hubtest\.yaml$/,
    );
  });

  test('several of a folder are one warning', async () => {
    await written('home/a.yaml', 'home/t.hubtest.yaml', 'home/u.hubtest.yaml');
    const warnings = await warningsOf(['home/t.hubtest.yaml', 'home/u.hubtest.yaml'], ['home/a.yaml']);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(/^2 test files are in the folder/);
  });

  test('a test beside the folder causes none', async () => {
    await written('home/a.yaml', 'tests/t.hubtest.yaml');
    expect(await warningsOf(['tests/t.hubtest.yaml'], ['home/a.yaml'])).toEqual([]);
  });

  test.each([
    ['home/.sourceignore', 'tests/\n', 0],
    ['home/.sourceignore', '# none\n*.hubtest.yaml\n', 0],
    ['.sourceignore', '/home/tests\n', 0],
    ['home/tests/.sourceignore', '*\n', 0],
    ['home/.sourceignore', '*.hubtest.yaml\n!t.hubtest.yaml\n', 1],
    ['home/.sourceignore', 'other/\n', 1],
  ])('%s with %j leaves %d warnings', async (name, patterns, count) => {
    await written('home/a.yaml', 'home/tests/t.hubtest.yaml', '.git/config');
    await writeFile(at(name), patterns);
    expect(await warningsOf(['home/tests/t.hubtest.yaml'], ['home/a.yaml'])).toHaveLength(count);
  });

  test('a .sourceignore above the repository does not count', async () => {
    await written('home/a.yaml', 'home/t.hubtest.yaml', 'home/.git/config');
    await writeFile(at('.sourceignore'), '*.hubtest.yaml\n');
    expect(await warningsOf(['home/t.hubtest.yaml'], ['home/a.yaml'])).toHaveLength(1);
  });
});
