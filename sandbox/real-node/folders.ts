import { mkdir, readdir, rm, rmdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isAlive } from '../run-directory';

// A node mounts its own folders over fixed folders of this machine. Removing such a folder would unmount it
// in the namespaces of every other node. Therefore each running node has a file in it, its claim.

/** The name of a claim file, with the process id of the node. */
const CLAIM = /^\.hub-operator-node-(\d+)-\d+$/;

/** A mark in a folder that a node has created. The last node that uses the folder removes both. */
const MADE = '.hub-operator-made';

/** How often a node retries when another node removes the folder between its creation and its claim. */
const ATTEMPTS = 100;

let count = 0;

/** Makes folders that do not exist, and claims all of them. Returns the paths of the claims. */
export async function claimFolders(paths: readonly string[]): Promise<string[]> {
  const claims: string[] = [];
  for (const path of paths) claims.push(await claim(path));
  return claims;
}

/** Removes the claims, and the folders that nodes have created, unless another node uses them. */
export async function releaseFolders(claims: readonly string[]): Promise<void> {
  for (const path of claims) {
    await rm(path, { force: true });
    await removeUnused(dirname(path));
  }
}

/** Removes the claims of nodes whose process has ended, and folders that no node uses. */
export async function releaseOldClaims(paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    await removeOldClaims(path);
    await removeUnused(path);
  }
}

async function claim(path: string): Promise<string> {
  const file = join(path, `.hub-operator-node-${process.pid}-${++count}`);
  for (let attempt = 1; ; attempt++) {
    try {
      const isNew = (await mkdir(path, { recursive: true })) !== undefined;
      if (isNew) await writeFile(join(path, MADE), '');
      await writeFile(file, '');
      break;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || attempt === ATTEMPTS) throw error;
    }
  }
  await removeOldClaims(path);
  return file;
}

async function removeOldClaims(folder: string): Promise<void> {
  for (const name of await namesIn(folder)) {
    const [, pid] = CLAIM.exec(name) ?? [];
    if (pid !== undefined && !isAlive(Number(pid))) await rm(join(folder, name), { force: true });
  }
}

/**
 * Removes a folder that nodes have created and none uses. If another node claims the folder at the same
 * moment, its mark is restored.
 */
async function removeUnused(folder: string): Promise<void> {
  const mark = join(folder, MADE);
  for (;;) {
    const names = await namesIn(folder);
    if (names.length !== 1 || names[0] !== MADE) return;
    await rm(mark, { force: true });
    const failure = await rmdir(folder).then(
      () => undefined,
      (error: NodeJS.ErrnoException) => error.code,
    );
    if (failure === undefined || failure === 'ENOENT') return;
    await writeFile(mark, '').catch(() => undefined); // fails when another node has just removed the folder
    if (failure !== 'ENOTEMPTY') return;
  }
}

const namesIn = (folder: string): Promise<string[]> => readdir(folder).catch(() => []);
