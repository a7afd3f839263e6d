import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Stopping } from '../../../../operator/errors';
import { issueInProcess } from '../../../../operator/webhook/certificate/issue-process';

// Without a timeout: only the signal ends a program that does not end by itself.
jest.mock('../../../../operator/limits', () => ({
  ...jest.requireActual<object>('../../../../operator/limits'),
  WEBHOOK_CERTIFICATE_ISSUE_TIMEOUT: 0,
}));

let directory: string;
const { signal } = new AbortController();

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'issue-process-'));
});
afterAll(() => rm(directory, { recursive: true }));

async function program(text: string): Promise<string> {
  const path = join(directory, 'program.cjs');
  await writeFile(path, text);
  return path;
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe('issueInProcess', () => {
  test('returns what the program prints for the host and the time', async () => {
    const echo = await program(`
      const [host, now] = process.argv.slice(2);
      process.stdout.write(JSON.stringify({ certificate: host, key: now, ca: 'ca' }));`);
    expect(await issueInProcess('w.example', 123, signal, echo)).toEqual({
      certificate: 'w.example',
      key: '123',
      ca: 'ca',
    });
  });

  test('fails with what the program says, which is no bug of the operator', async () => {
    const failing = await program(`process.stderr.write('no entropy'); process.exitCode = 1;`);
    await expect(issueInProcess('w.example', 0, signal, failing)).rejects.toMatchObject({
      name: 'NotIssued',
      message: 'cannot make a certificate for w.example: no entropy',
    });
  });

  test('fails when the program was ended from outside', async () => {
    const killed = await program(`process.kill(process.pid, 'SIGKILL');`);
    await expect(issueInProcess('w.example', 0, signal, killed)).rejects.toMatchObject({ name: 'NotIssued' });
  });

  test.each(['', '{"certificate": "c', 'null', '{"certificate": "c", "key": "k"}'])(
    'fails when the program ends well and prints %j, which is no certificate',
    async (printed) => {
      const wrong = await program(`process.stdout.write(${JSON.stringify(printed)});`);
      await expect(issueInProcess('w.example', 0, signal, wrong)).rejects.toMatchObject({
        name: 'NotIssued',
        message: 'cannot make a certificate for w.example: the process that makes it did not print one',
      });
    },
  );

  test('ends the program at once when the signal aborts', async () => {
    const file = join(directory, 'pid');
    const endless = await program(`
      require('node:fs').writeFileSync(${JSON.stringify(file)}, process.pid + '.');
      setInterval(() => {}, 1_000);`);
    const stopping = new AbortController();
    const issued = issueInProcess('w.example', 0, stopping.signal, endless);
    const pid = () => existsSync(file) && /^(\d+)\.$/.exec(readFileSync(file, 'utf8'))?.[1];
    // However long a busy machine takes to start and end another process.
    while (!pid()) await sleep(20);
    const reason = new Stopping('the operator is stopping');
    stopping.abort(reason);
    await expect(issued).rejects.toBe(reason);
    while (isRunning(Number(pid()))) await sleep(20);
  });
});
