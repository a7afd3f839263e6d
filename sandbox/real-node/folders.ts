import { mkdir, readdir, rm, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isAlive } from '../run-directory';

// A node mounts folders of its own on folders of this machine. To remove such a folder would unmount it in the namespaces of
// every other node, so each node has a file in it while it runs.

/** The name of that file: `-made` if no folder was there before the nodes. */
const CLAIM = /^\.hub-operator-node-(\d+)-\d+(-made)?$/;

/** How often a folder may be removed by another node between its creation and its claim. */
const ATTEMPTS = 100;

let count = 0;

/** Makes folders that are absent. Returns the paths of the claims. */
export async function claimFolders(paths: readonly string[]): Promise<string[]> {
  const claims: string[] = [];
  for (const path of paths) claims.push(await claim(path));
  return claims;
}

/** Removes the folders that nodes have made, unless another one uses them. */
export async function releaseFolders(claims: readonly string[]): Promise<void> {
  for (const path of claims) {
    await rm(path, { force: true });
    if (path.endsWith('-made')) await rmdir(join(path, '..')).catch(() => undefined);
  }
}

/** Releases those of nodes whose process has ended. */
export async function releaseOldClaims(paths: readonly string[]): Promise<void> {
  for (const path of paths) await releaseFolders((await claimsOf(path)).old);
}

async function claim(path: string): Promise<string> {
  for (let attempt = 1; ; attempt++) {
    const first = await mkdir(path, { recursive: true });
    const { all, old } = await claimsOf(path);
    const made = first !== undefined || all.some((name) => name.endsWith('-made'));
    const file = join(path, `.hub-operator-node-${process.pid}-${++count}${made ? '-made' : ''}`);
    try {
      await writeFile(file, '');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || attempt === ATTEMPTS) throw error;
      continue;
    }
    for (const name of old) await rm(name, { force: true });
    return file;
  }
}

/** Paths of the claims in a folder; those are old whose process has ended. */
async function claimsOf(folder: string): Promise<{ all: string[]; old: string[] }> {
  const names = (await readdir(folder).catch(() => [])).filter((name) => CLAIM.test(name));
  const old = names.filter((name) => !isAlive(Number(CLAIM.exec(name)![1])));
  const paths = (list: readonly string[]) => list.map((name) => join(folder, name));
  return { all: paths(names), old: paths(old) };
}
