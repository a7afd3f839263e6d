import { spawnSync } from 'node:child_process';
import { mkdir, readdir, utimes } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { makeRunDirectory } from '../../../sandbox/run-directory';
import { ownRuns } from './own-runs';

const runs = ownRuns();

/** Returns the id of a process that has ended. */
const ended = () => spawnSync('true').pid;

test('the folder of a run that has ended is removed by the next run, others stay', async () => {
  for (const name of [`run-${ended()}-1-abc`, `run-${ended()}-abc123`, 'other'])
    await mkdir(join(runs(), name));
  const first = await makeRunDirectory('1');
  const second = await makeRunDirectory('1');
  expect((await readdir(runs())).sort()).toEqual(['other', basename(first), basename(second)].sort());
});

test('the folder of a run in another PID namespace stays for a day after its last sign of life', async () => {
  const [present, old] = [join(runs(), `run-${ended()}-2-abc`), join(runs(), `run-${process.pid}-2-def`)];
  for (const path of [present, old]) await mkdir(path);
  const time = Date.now() / 1_000 - 25 * 3_600;
  await utimes(old, time, time);
  const own = await makeRunDirectory('1');
  expect((await readdir(runs())).sort()).toEqual([basename(present), basename(own)].sort());
});
