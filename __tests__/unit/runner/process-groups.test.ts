import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../until';
import { isAlive } from '../../is-alive';

const repository = join(__dirname, '..', '..', '..');
const groups = join(__dirname, '..', '..', 'runner', 'process-groups.ts');

let directory: string;
let runner: ChildProcess | undefined;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'groups-'));
});

afterEach(() => {
  runner?.kill('SIGKILL');
});

afterAll(async () => {
  await rm(directory, { recursive: true });
});

/** Starts a runner that has started a program with a worker. */
async function start(worker: string) {
  const program = `
    const worker = require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(worker)}], { stdio: 'inherit' });
    console.log('program', process.pid, 'worker', worker.pid);
    setInterval(() => undefined, 1_000);`;
  const script = join(directory, 'runner.ts');
  await writeFile(
    script,
    `import { endGroupsWithThis, spawnGroup } from ${JSON.stringify(groups)};
    endGroupsWithThis();
    spawnGroup(process.execPath, ['-e', ${JSON.stringify(program)}], { stdio: ['ignore', 'inherit', 'inherit'] });
    setInterval(() => undefined, 1_000);`,
  );
  const started = spawn(process.execPath, ['--import', 'tsx', script], {
    cwd: repository,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  runner = started;
  let printed = '';
  started.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text));
  await until(() => /program \d+ worker \d+[^]*ready/.test(printed));
  const [, ...pids] = /program (\d+) worker (\d+)/.exec(printed)!.map(Number);
  return { started, pids, printed: () => printed };
}

const GOES_ON = "console.log('ready'); setInterval(() => undefined, 1_000);";

describe('endGroupsWithThis', () => {
  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('%s to this process alone ends the programs and their workers', async (signal, code) => {
    const { started, pids } = await start(GOES_ON);
    started.kill(signal);
    expect(await once(started, 'exit')).toEqual([code, null]);
    await until(() => !pids.some(isAlive));
  });

  test('it waits for the shutdown of a program, also where a second signal comes, as from a program in between', async () => {
    const end =
      "console.log('ending'); setTimeout(() => { console.log('taken down'); process.exit(0); }, 300);";
    const { started, pids, printed } = await start(`process.on('SIGTERM', () => { ${end} }); ${GOES_ON}`);
    started.kill('SIGTERM');
    await until(() => printed().includes('ending'));
    started.kill('SIGINT');
    expect(await once(started, 'exit')).toEqual([143, null]);
    await until(() => printed().includes('taken down') && !pids.some(isAlive));
  });
});
