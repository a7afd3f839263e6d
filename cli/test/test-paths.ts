import { existsSync } from 'node:fs';
import { readFile, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import ignore from 'ignore';
import { filesOf, isTestFile } from '../../operator/offline/files';
import { CommandError } from '../command-error';

/** Files of tests, and the paths with resources. */
interface TestPaths {
  readonly tests: readonly string[];
  readonly resources: readonly string[];
}

/** Name of a folder beside a path in which tests are searched too. */
const TESTS = 'tests';

/**
 * The tests for the given paths: the test files that are named, or else those below each path and in the
 * folder `tests` beside it.
 *
 * @param paths files, directories, or `-` for resources from the standard input
 * @throws NotRead, CommandError
 */
export async function findTests(paths: readonly string[]): Promise<TestPaths> {
  const named = paths.filter((path) => isTestFile(basename(path)));
  const resources = paths.filter((path) => !named.includes(path));
  const found: string[] = [];
  if (named.length > 0) found.push(...named);
  else
    for (const path of resources.filter((each) => each !== '-')) {
      found.push(...(await filesOf(path, isTestFile)).filter(isTestFile));
      const beside = join(dirname(resolve(path)), TESTS);
      const shown = relative('.', beside) || '.';
      if (await isFolder(beside)) found.push(...(await filesOf(shown, isTestFile)));
    }
  const tests = await withoutRepetition(found);
  if (tests.length === 0)
    throw new CommandError(
      `there is no test in ${paths.join(', ')}, nor in a folder ${TESTS} beside it: write one into ${TESTS}/NAME.hubtest.yaml, which begins with hubtest: v1, or name its file`,
    );
  return { tests, resources };
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

/** Removes files that are listed more than once; the first path of each remains. */
async function withoutRepetition(files: readonly string[]): Promise<string[]> {
  const byFile = new Map<string, string>();
  for (const file of files) {
    const real = await realpath(file).catch(() => file);
    if (!byFile.has(real)) byFile.set(real, file);
  }
  return [...byFile.values()];
}

/**
 * A warning for each applied folder that contains tests: `kubectl apply -R` and Flux reject files without
 * `apiVersion`.
 *
 * @param resourceFiles files with resources, from the folders that the user named
 */
export async function testsInAppliedFolders(
  tests: readonly string[],
  resourceFiles: readonly string[],
): Promise<string[]> {
  const applied = new Set(resourceFiles.map((file) => dirname(resolve(file))));
  const found = new Map<string, string[]>();
  for (const test of tests) {
    const folder = ancestorsOf(test).findLast((each) => applied.has(each));
    if (folder === undefined || (await isIgnored(test))) continue;
    found.set(folder, [...(found.get(folder) ?? []), test]);
  }
  return [...found].map(([folder, files]) => {
    const shown = relative('.', folder) || '.';
    const subject = files.length === 1 ? `${files[0]} is` : `${files.length} test files are`;
    const beside = join(dirname(folder), TESTS);
    const object = files.length === 1 ? 'it' : 'them';
    return (
      `${subject} in the folder ${shown}, which has resources: kubectl apply -R and Flux refuse a file without apiVersion. ` +
      `Move ${object} into ${relative('.', beside) || '.'}, or name ${object} in ${join(shown, SOURCE_IGNORE)}: *.hubtest.yaml`
    );
  });
}

/** The folders that contain a file, beginning with the nearest. */
function ancestorsOf(file: string): string[] {
  const folders: string[] = [];
  for (let folder = dirname(resolve(file)); !folders.includes(folder); folder = dirname(folder))
    folders.push(folder);
  return folders;
}

/** File with patterns, in the syntax of Git, for files that Flux excludes from a source. */
const SOURCE_IGNORE = '.sourceignore';

async function isIgnored(file: string): Promise<boolean> {
  for (const folder of ancestorsOf(file)) {
    const patterns = await readFile(join(folder, SOURCE_IGNORE), 'utf8').catch(() => undefined);
    const path = relative(folder, resolve(file)).replaceAll('\\', '/');
    if (patterns !== undefined && ignore().add(patterns).ignores(path)) return true;
    if (existsSync(join(folder, '.git'))) return false;
  }
  return false;
}
