import { constants } from 'node:fs';
import { access, readdir, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { isComparable, isLower } from '../../operator/base/hub-version';

type Variables = Readonly<Record<string, string | undefined>>;

/** The first program with this name in `PATH`; undefined if there is none. */
export async function findInPath(name: string, { PATH = '' }: Variables): Promise<string | undefined> {
  for (const folder of PATH.split(delimiter).filter((each) => each !== '')) {
    const path = join(folder, name);
    if (await isProgram(path)) return path;
  }
  return undefined;
}

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}

/** A Python interpreter with Home Assistant of this version. */
interface HubPython {
  readonly path: string;
  readonly version: string;
}

/**
 * The Python interpreters that the sandbox has installed in a clone of the operator's repository, the newest
 * hub first. The list is empty outside of a clone, or if no test of the clone has been run.
 *
 * @param from folder of this program
 */
export async function sandboxPythons(from: string, variables: Variables): Promise<readonly HubPython[]> {
  if (!(await isInClone(from))) return [];
  const userCache = variables['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  const cache = variables['HUB_OPERATOR_CACHE'] || join(userCache, 'hub-operator');
  const folders = (await entriesOf(cache)).filter((name) => /^hub-[0-9a-f]+$/.test(name));
  const found = await Promise.all(folders.map((name) => hubPython(join(cache, name))));
  return found
    .filter((each) => each !== undefined)
    .sort((a, b) => (isLower(a.version, b.version) ? 1 : isLower(b.version, a.version) ? -1 : 0));
}

/** Whether a folder above this program is a clone of the operator's repository. */
async function isInClone(from: string): Promise<boolean> {
  for (let folder = from; ; folder = dirname(folder)) {
    const isClone = await stat(join(folder, 'sandbox', 'hub-software.ts')).then(
      () => true,
      () => false,
    );
    if (isClone) return true;
    if (dirname(folder) === folder) return false;
  }
}

async function hubPython(venv: string): Promise<HubPython | undefined> {
  for (const name of (await entriesOf(join(venv, 'lib'))).filter((each) => each.startsWith('python3.'))) {
    const packages = await entriesOf(join(venv, 'lib', name, 'site-packages'));
    const [, version] =
      packages
        .map((each) => /^homeassistant-(.+)\.dist-info$/.exec(each) ?? [])
        .find(([, each]) => each !== undefined && isComparable(each)) ?? [];
    if (version !== undefined) return { path: join(venv, 'bin', 'python'), version };
  }
  return undefined;
}

const entriesOf = (folder: string): Promise<string[]> => readdir(folder).catch(() => []);
