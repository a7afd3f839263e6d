import { spawnSync } from 'node:child_process';
import { mkdir, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Sandbox } from '../../../sandbox';
import { makeRunDirectory } from '../../../sandbox/run-directory';
import { removeRunFile, runFile, writeRunFile } from '../../../sandbox/run-file';
import { ownRuns } from './own-runs';

const runs = ownRuns();

/** Returns the id of a process that has ended. */
const ended = () => spawnSync('true').pid;

const sandbox = (directory: string) =>
  ({ directory, kubectl: ['kubectl'], controlPlane: { ports: {}, pids: () => [] } }) as unknown as Sandbox;

/** Makes a run with its folder and its file, like another process. */
async function other(pid: number, space: string, file = 'run.json'): Promise<string> {
  const name = `run-${pid}-${space}-other`;
  await mkdir(join(runs(), name));
  await writeFile(join(runs(), file), JSON.stringify({ pid, directory: `/elsewhere/${name}` }));
  return name;
}

const writer = async (file = runFile()) =>
  basename((JSON.parse(await readFile(file, 'utf8')) as { directory: string }).directory);

const age = async (name: string) => {
  const time = Date.now() / 1_000 - 25 * 3_600;
  await utimes(join(runs(), name), time, time);
};

const OTHER_SPACE = '2';

describe('writeRunFile', () => {
  test('the file of a run in another PID namespace stays while its folder shows signs of life', async () => {
    const name = await other(ended(), OTHER_SPACE);
    const own = await makeRunDirectory();
    await writeRunFile(sandbox(own));
    expect([await writer(), await writer(`${own}.json`)]).toEqual([name, basename(own)]);
  });

  test('the pid of a process here says nothing about a run in another PID namespace', async () => {
    await age(await other(process.ppid, OTHER_SPACE));
    const own = join(runs(), 'run-1-1-own');
    await writeRunFile(sandbox(own));
    expect(await writer()).toBe(basename(own));
    expect(await readdir(runs())).not.toContain('run-1-1-own.json');
  });

  test('the file of a run that has ended is replaced', async () => {
    const name = await other(ended(), '1');
    await rm(join(runs(), name), { recursive: true });
    const own = await makeRunDirectory();
    await writeRunFile(sandbox(own));
    expect(await writer()).toBe(basename(own));
  });
});

describe('removeRunFile', () => {
  test('the file of another run with the same pid stays, in either place', async () => {
    const name = await other(process.pid, OTHER_SPACE);
    await other(process.pid, '3', `run-${process.pid}-3-other.json`);
    await removeRunFile({ directory: join(runs(), `run-${process.pid}-1-own`) });
    expect([await writer(), await writer(join(runs(), `run-${process.pid}-3-other.json`))]).toEqual([
      name,
      `run-${process.pid}-3-other`,
    ]);
  });

  test('the file of this run is removed, in either place', async () => {
    const [first, second] = [await makeRunDirectory(), await makeRunDirectory()];
    for (const directory of [first, second]) await writeRunFile(sandbox(directory));
    expect((await readdir(runs())).filter((name) => name.endsWith('.json')).sort()).toEqual(
      [`${basename(second)}.json`, 'run.json'].sort(),
    );
    for (const directory of [first, second]) await removeRunFile({ directory });
    expect((await readdir(runs())).sort()).toEqual([basename(first), basename(second)].sort());
  });
});

describe('makeRunDirectory', () => {
  test('the files of killed runs beside another one are removed with their folders, that of a running one stays', async () => {
    const [killed, old] = [await other(ended(), '1'), await other(process.ppid, OTHER_SPACE)];
    await age(old);
    const living = await other(ended(), '3');
    for (const file of [`${killed}.json`, `${killed}.json.partial`, `${old}.json`, `${living}.json`])
      await writeFile(join(runs(), file), '{}');
    const own = await makeRunDirectory('1');
    expect((await readdir(runs())).sort()).toEqual(
      ['run.json', living, `${living}.json`, basename(own)].sort(),
    );
  });
});
