import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { chmod, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { repository } from '../../../sandbox/image/bundle';
import { readText, replaceFile } from '../../../cli/yaml/replace-file';

let folder: string;
const path = (name: string) => join(folder, name);
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'replace-'));
});
afterEach(() => rm(folder, { recursive: true }));

test('a file gets its text with the same mode, and nothing else is left in the folder', async () => {
  await writeFile(path('a'), '\ufeffold');
  await chmod(path('a'), 0o666);
  const former = await readText(path('a'));
  expect(former).toBe('\ufeffold');
  await replaceFile(path('a'), former, 'new');
  expect(await readFile(path('a'), 'utf8')).toBe('new');
  expect((await stat(path('a'))).mode & 0o7777).toBe(0o666);
  expect(await readdir(folder)).toEqual(['a']);
});

test('the former file is never opened for writing: a concurrent reader gets one text or the other', async () => {
  await writeFile(path('a'), 'old');
  const { ino } = await stat(path('a'));
  await replaceFile(path('a'), 'old', 'new');
  expect((await stat(path('a'))).ino).not.toBe(ino);
});

test('a file that was changed or created in the meantime stays', async () => {
  await writeFile(path('a'), 'newer');
  await expect(replaceFile(path('a'), 'old', 'new')).rejects.toThrow('was changed by someone else');
  await expect(replaceFile(path('a'), undefined, 'new')).rejects.toThrow('was changed by someone else');
  expect(await readFile(path('a'), 'utf8')).toBe('newer');
  expect(await readdir(folder)).toEqual(['a']);
});

test('a link, a folder and a text of another encoding are refused', async () => {
  await writeFile(path('a'), 'old');
  await symlink(path('a'), path('link'));
  await symlink(path('nothing'), path('dangling'));
  await writeFile(path('latin'), Buffer.from([0x4b, 0xfc]));
  await expect(readText(path('link'))).rejects.toThrow('symbolic link');
  await expect(replaceFile(path('link'), 'old', 'new')).rejects.toThrow('symbolic link');
  await expect(replaceFile(path('dangling'), undefined, 'new')).rejects.toThrow('symbolic link');
  await expect(readText(folder)).rejects.toThrow('is no file');
  await expect(readText(path('latin'))).rejects.toThrow('not in UTF-8');
  expect(await readText(path('nothing'))).toBeUndefined();
  expect(await readFile(path('a'), 'utf8')).toBe('old');
});

test('a folder that accepts no file is an error that names the file', async () => {
  await expect(replaceFile(join(folder, 'no', 'a'), undefined, 'new')).rejects.toThrow('cannot write');
});

/** Writes one file after another, beside a reader of texts as in a command, and ends itself as asked. */
const writing = (target: string, ending: string) => `
  const { replaceFile } = require('./cli/yaml/replace-file');
  const { withTexts } = require('./cli/with-texts');
  const { systemClock } = require('./operator/base/clock');
  ${ending}
  void withTexts(systemClock, async () => {
    for (let i = 0; ; i++) await replaceFile(${JSON.stringify(target)} + i, undefined, 'x'.repeat(50_000_000));
  });`;

test.each([
  ['SIGINT', ''],
  ['SIGTERM', ''],
  ['SIGUSR2', "process.on('SIGUSR2', () => process.exit());"],
] as const)('a process that ends while it writes leaves no half of a file: %s', async (signal, ending) => {
  const args = ['--require', 'tsx/cjs', '--eval', writing(path('a'), ending)];
  const child = spawn(process.execPath, args, { cwd: repository, stdio: 'inherit' });
  const ended = once(child, 'exit');
  while ((await readdir(folder)).length === 0) await sleep(5);
  child.kill(signal);
  await ended;
  expect((await readdir(folder)).filter((name) => name.startsWith('.'))).toEqual([]);
});
