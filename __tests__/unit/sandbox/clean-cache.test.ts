import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cleanCache } from '../../../sandbox/clean-cache';

let root: string;
const none = () => Promise.resolve([]);
const own = [
  'hub-0123456789ab',
  'kube-node-0123456789ab',
  'uv-0123456789ab.partial-aB3_x9',
  'trial-17',
  'logs',
];

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'clean-cache-'));
  for (const name of own) await mkdir(join(root, name));
  await writeFile(join(root, 'logs', 'hub.log'), '');
  await writeFile(join(root, 'hub-0123456789ab.lock'), '1');
  await writeFile(join(root, 'test-durations.json'), '{}');
});

afterEach(() => rm(root, { recursive: true, force: true }));

describe('cleanCache', () => {
  test('removes what the sandbox has made, and the folder', async () => {
    expect(await cleanCache(root, none)).toEqual([]);
    await expect(access(root)).rejects.toThrow('ENOENT');
  });

  test('leaves files of other programs in a folder that a user has chosen', async () => {
    const others = ['Documents', 'hub-old', 'logs.txt', 'photos-0123456789abcdef'];
    for (const name of others) await mkdir(join(root, name));
    expect((await cleanCache(root, none)).toSorted()).toEqual(others);
    expect((await readdir(root)).toSorted()).toEqual(others);
  });

  test('removes nothing while a process uses an entry', async () => {
    const before = await readdir(root);
    const running = [
      { pid: '4', words: ['/usr/bin/vim', join(root, 'notes')] },
      { pid: '17', words: ['/usr/bin/python3', join(root, 'hub-0123456789ab', 'bin', 'hass')] },
    ];
    await expect(cleanCache(root, () => Promise.resolve(running))).rejects.toThrow(
      `1 processes use ${root}, such as 17. Nothing was removed.`,
    );
    expect(await readdir(root)).toEqual(before);
  });

  test('finds a running process of an entry automatically', async () => {
    const program = join(root, 'hub-0123456789ab', 'bin', 'hass');
    const child = spawn(process.execPath, ['-e', 'process.stdin.resume()', program]);
    try {
      await once(child, 'spawn');
      await expect(cleanCache(root)).rejects.toThrow(`1 processes use ${root}, such as ${child.pid}.`);
    } finally {
      child.kill();
      await once(child, 'exit');
    }
    expect(await cleanCache(root)).toEqual([]);
  });

  test('a cache that does not exist leaves nothing to remove', async () => {
    await rm(root, { recursive: true });
    expect(await cleanCache(root, none)).toEqual([]);
  });
});
