import { access, mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { claimFolders, releaseFolders, releaseOldClaims } from '../../../../sandbox/real-node/folders';

/** A process id of an ended process, because it is higher than any real one. */
const ENDED = 2 ** 30;
const OLD_CLAIM = `.hub-operator-node-${ENDED}-1`;

let root: string;
let folder: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'folders-'));
  folder = join(root, 'kubelet');
});

afterEach(() => rm(root, { recursive: true }));

const isThere = () =>
  stat(folder).then(
    () => true,
    () => false,
  );

/** Makes a folder as a killed node leaves it. */
async function leaveFolder(): Promise<void> {
  const [claim] = await claimFolders([folder]);
  await rename(claim!, join(folder, OLD_CLAIM));
}

describe('claimFolders', () => {
  test('makes a folder, which the last node that uses it removes, in any order', async () => {
    const first = await claimFolders([folder]);
    const second = await claimFolders([folder]);
    await releaseFolders(first);
    expect(await isThere()).toBe(true);
    await releaseFolders(second);
    expect(await isThere()).toBe(false);
  });

  test('a folder stays while one of many nodes that start and end uses it, and is removed with the last one', async () => {
    const node = async () => {
      for (let round = 0; round < 30; round++) {
        const claims = await claimFolders([folder]);
        await access(claims[0]!);
        await releaseFolders(claims);
      }
    };
    // no node continues after the test
    const ends = await Promise.allSettled(Array.from({ length: 6 }, node));
    expect(ends.filter(({ status }) => status === 'rejected')).toEqual([]);
    expect(await isThere()).toBe(false);
  });

  test('a folder that existed before the nodes stays, without the files of the nodes', async () => {
    await mkdir(folder);
    await releaseFolders(await claimFolders([folder]));
    expect(await readdir(folder)).toEqual([]);
  });

  test('the next node removes a folder that a killed node has made', async () => {
    await leaveFolder();
    await releaseFolders(await claimFolders([folder]));
    expect(await isThere()).toBe(false);
  });

  test('a folder that a killed node has made is removed without a next one, unless another uses it', async () => {
    await leaveFolder();
    const [other] = await claimFolders([folder]);
    await releaseOldClaims([folder]);
    expect(await isThere()).toBe(true);
    await rename(other!, join(folder, OLD_CLAIM));
    await releaseOldClaims([folder]);
    expect(await isThere()).toBe(false);
  });
});
