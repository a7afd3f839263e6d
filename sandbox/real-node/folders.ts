import { mkdir, readdir, rm, rmdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isAlive } from '../run-directory';

// A node mounts folders of its own on folders of this machine. To remove such a folder would unmount it in the namespaces of
// every other node, so each node has a file in it while it runs.

/** The name of that file. */
const CLAIM = /^\.hub-operator-node-(\d+)-\d+$/;

/** A file in a folder that no one but nodes has made: it goes with the last of them. */
const MADE = '.hub-operator-made';

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
    await removeUnused(dirname(path));
  }
}

/** Releases those of nodes whose process has ended. */
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

/** Removes a folder that nodes have made and none uses; one that another node claims meanwhile keeps its mark. */
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
    await writeFile(mark, '').catch(() => undefined); // another one has just removed the folder
    if (failure !== 'ENOTEMPTY') return;
  }
}

const namesIn = (folder: string): Promise<string[]> => readdir(folder).catch(() => []);
