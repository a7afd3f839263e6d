import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cached, contentKey } from '../../../sandbox/cache';

let root: string;
const before = process.env['HUB_OPERATOR_CACHE'];

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'hub-cache-'));
  process.env['HUB_OPERATOR_CACHE'] = root;
});

afterEach(async () => {
  if (before === undefined) delete process.env['HUB_OPERATOR_CACHE'];
  else process.env['HUB_OPERATOR_CACHE'] = before;
  await rm(root, { recursive: true });
});

const writeTool = (folder: string) => writeFile(join(folder, 'tool'), 'works');

describe('cached, contentKey', () => {
  test('builds once and then finds it', async () => {
    const build = jest.fn(writeTool);
    const first = await cached('tool', 'k1', build);
    const second = await cached('tool', 'k1', build);
    expect(second).toBe(first);
    expect(build).toHaveBeenCalledTimes(1);
    expect(await readFile(join(first, 'tool'), 'utf8')).toBe('works');
  });

  test('a build that fails leaves nothing, and the next start builds again', async () => {
    const breaks = async (folder: string) => {
      await writeTool(folder);
      throw new Error('download broke');
    };
    await expect(cached('tool', 'k1', breaks)).rejects.toThrow('download broke');
    expect(await readdir(root)).toEqual([]);
    await cached('tool', 'k1', writeTool);
    expect(await readdir(root)).toEqual(['tool-k1']);
  });

  test('nothing is visible under its name before it is complete', async () => {
    await cached('tool', 'k1', async (folder) => {
      await writeTool(folder);
      expect(await readdir(root)).not.toContain('tool-k1');
    });
  });

  test('two at the same time build once; the other waits and says so', async () => {
    let finish!: () => void;
    const finished = new Promise<void>((resolve) => (finish = resolve));
    const build = jest.fn(() => finished);
    const waits = jest.fn(() => finish());
    // Either of them may take the lock first.
    const first = cached('tool', 'k1', build, waits);
    const second = cached('tool', 'k1', build, waits);
    expect(await second).toBe(await first);
    expect(build).toHaveBeenCalledTimes(1);
    expect(waits).toHaveBeenCalled();
  });

  test('takes over from a killed run and removes its partial build', async () => {
    await mkdir(join(root, 'tool-k1.partial-abc'));
    const lock = join(root, 'tool-k1.lock');
    const { pid: ended } = spawnSync(process.execPath, ['--version']);
    await writeFile(lock, String(ended));
    const longAgo = new Date(Date.now() - 60_000);
    await utimes(lock, longAgo, longAgo);
    await cached('tool', 'k1', writeTool);
    expect(await readdir(root)).toEqual(['tool-k1']);
  });

  test('the key distinguishes contents, even with equal concatenations', () => {
    expect(contentKey(['ab', 'c'])).toBe(contentKey(['ab', Buffer.from('c')]));
    expect(contentKey(['ab', 'c'])).not.toBe(contentKey(['a', 'bc']));
    expect(contentKey(['ab', 'c'])).not.toBe(contentKey(['ab', 'c', '']));
  });
});
