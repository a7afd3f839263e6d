import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { makeRunDirectory } from '../../../sandbox/run-directory';

let runs: string;
const before = process.env['HUB_OPERATOR_RUNS'];

beforeEach(async () => {
  runs = await mkdtemp(join(tmpdir(), 'runs-'));
  process.env['HUB_OPERATOR_RUNS'] = runs;
});

afterEach(async () => {
  if (before === undefined) delete process.env['HUB_OPERATOR_RUNS'];
  else process.env['HUB_OPERATOR_RUNS'] = before;
  await rm(runs, { recursive: true });
});

/** The id of a process that has ended. */
const ended = () => spawnSync('true').pid;

test('the folder of a run that has ended goes with the next run, others stay', async () => {
  for (const name of [`run-${ended()}-1-abc`, `run-${ended()}-abc123`, 'other'])
    await mkdir(join(runs, name));
  const first = await makeRunDirectory('1');
  const second = await makeRunDirectory('1');
  expect((await readdir(runs)).sort()).toEqual(['other', basename(first), basename(second)].sort());
});

test('the folder of a run in another PID namespace stays for a day after its last sign of life', async () => {
  const [present, old] = [join(runs, `run-${ended()}-2-abc`), join(runs, `run-${process.pid}-2-def`)];
  for (const path of [present, old]) await mkdir(path);
  const time = Date.now() / 1_000 - 25 * 3_600;
  await utimes(old, time, time);
  const own = await makeRunDirectory('1');
  expect((await readdir(runs)).sort()).toEqual([basename(present), basename(own)].sort());
});
