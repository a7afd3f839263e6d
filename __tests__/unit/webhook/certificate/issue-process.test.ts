import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { issueInProcess } from '../../../../operator/webhook/certificate/issue-process';

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'issue-process-'));
});
afterAll(() => rm(directory, { recursive: true }));

async function program(text: string): Promise<string> {
  const path = join(directory, 'program.cjs');
  await writeFile(path, text);
  return path;
}

describe('issueInProcess', () => {
  test('returns what the program prints for the host and the time', async () => {
    const echo = await program(`
      const [host, now] = process.argv.slice(2);
      process.stdout.write(JSON.stringify({ certificate: host, key: now, ca: 'ca' }));`);
    expect(await issueInProcess('w.example', 123, echo)).toEqual({
      certificate: 'w.example',
      key: '123',
      ca: 'ca',
    });
  });

  test('fails with what the program says, which is no bug of the operator', async () => {
    const failing = await program(`process.stderr.write('no entropy'); process.exitCode = 1;`);
    await expect(issueInProcess('w.example', 0, failing)).rejects.toMatchObject({
      name: 'NotIssued',
      message: 'cannot make a certificate for w.example: no entropy',
    });
  });

  test('fails when the program was ended from outside', async () => {
    const killed = await program(`process.kill(process.pid, 'SIGKILL');`);
    await expect(issueInProcess('w.example', 0, killed)).rejects.toMatchObject({ name: 'NotIssued' });
  });
});
