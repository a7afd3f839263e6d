import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { claimFolders, releaseFolders, releaseOldClaims } from '../../../../sandbox/real-node/folders';

/** Higher than any process id: that of a process that has ended. */
const ENDED = 2 ** 30;

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

describe('claimFolders', () => {
  test('makes a folder, which goes with the last node that uses it, whichever that is', async () => {
    const first = await claimFolders([folder]);
    const second = await claimFolders([folder]);
    await releaseFolders(first);
    expect(await isThere()).toBe(true);
    await releaseFolders(second);
    expect(await isThere()).toBe(false);
  });

  test('a folder that was there before the nodes stays, without what they have put there', async () => {
    await mkdir(folder);
    await releaseFolders(await claimFolders([folder]));
    expect(await readdir(folder)).toEqual([]);
  });

  test('a folder that a killed node has made goes with the next one', async () => {
    await mkdir(folder);
    await writeFile(join(folder, `.hub-operator-node-${ENDED}-1-made`), '');
    await releaseFolders(await claimFolders([folder]));
    expect(await isThere()).toBe(false);
  });

  test('a folder that a killed node has made goes without a next one, unless another uses it', async () => {
    await mkdir(folder);
    const old = join(folder, `.hub-operator-node-${ENDED}-1-made`);
    const [other] = await claimFolders([folder]);
    await writeFile(old, '');
    await releaseOldClaims([folder]);
    expect(await isThere()).toBe(true);
    await rm(other!);
    await writeFile(old, '');
    await releaseOldClaims([folder]);
    expect(await isThere()).toBe(false);
  });
});
