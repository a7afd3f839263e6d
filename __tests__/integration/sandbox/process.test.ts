import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { SandboxProcess } from '../../../sandbox/process';
import { until } from '../../cluster';

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'hub-process-'));
});

afterAll(() => rm(directory, { recursive: true }));

const shell = (name: string, script: string, graceMs = 60_000) =>
  SandboxProcess.start({ name, command: ['sh', '-c', script], directory, graceMs });

async function says(process: SandboxProcess, word: string): Promise<void> {
  await until(`it says ${word}`, async () => (await readFile(process.logFile, 'utf8')).includes(word));
}

async function runs(marker: string): Promise<boolean> {
  const { stdout } = await promisify(execFile)('ps', ['-axo', 'args=']);
  return stdout.split('\n').some((line) => line.startsWith(`sleep ${marker}`));
}

describe('a process of the sandbox', () => {
  test('ends with the exit code of its command and logs what that prints', async () => {
    const process = await shell('ends', 'echo out; echo err >&2; exit 3');
    expect(await process.exited).toBe(3);
    expect(process.running).toBe(false);
    expect(await readFile(process.logFile, 'utf8')).toBe('out\nerr\n');
  });

  test('stopping lets the command end in good order', async () => {
    const process = await shell(
      'stops',
      'trap "echo bye; exit 0" TERM; echo up; while :; do sleep 0.1; done',
    );
    await says(process, 'up');
    await process.stop();
    expect(await process.exited).toBe(0);
    await says(process, 'bye');
  });

  test('stopping kills what does not listen, after the grace and with all that it started', async () => {
    const process = await shell(
      'deaf',
      'trap "" TERM; sleep 71234 & echo up; while :; do sleep 71234; done',
      200,
    );
    await says(process, 'up');
    await process.stop();
    expect(await process.exited).toBe(137);
    await until('what it started has ended', async () => !(await runs('71234')));
  });

  test('a killed one takes along what it started', async () => {
    const process = await shell('killed', 'sleep 71235 & echo up; wait');
    await says(process, 'up');
    await process.kill();
    expect(await process.exited).toBe(137);
    await until('what it started has ended', async () => !(await runs('71235')));
  });

  test('a command that does not exist is named', async () => {
    const start = SandboxProcess.start({ name: 'nothing', command: ['/no/such/program'], directory });
    await expect(start).rejects.toThrow('cannot start nothing: /no/such/program');
  });
});
