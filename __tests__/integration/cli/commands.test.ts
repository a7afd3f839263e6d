import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { callService } from '../../../operator/client/services';
import { freshNamespace, until } from '../../cluster';
import { BUNDLE, kubectlHub } from '../../cluster/command-line';
import { area, automation, Home, label } from '../../cluster/home';
import { startHub } from '../../cluster/onboarded-volume';
import { startTestOperator } from '../../cluster/operator';
import { isAlive } from '../../is-alive';

let home: Home;

beforeAll(async () => {
  home = new Home(await freshNamespace('commands'));
  await startTestOperator(home.namespace);
  await startHub(home, 'villa');
  await home.apply(
    automation('villa', 'wake', {
      triggers: [{ trigger: 'event', event_type: 'wake' }],
      conditions: [{ condition: 'template', value_template: '{{ true }}' }],
      actions: [{ choose: [{ conditions: '{{ 1 == 1 }}', sequence: [{ event: 'awake' }] }] }],
    }),
    label('villa', 'night', { name: 'Night' }),
  );
  await home.ready('hubautomation', 'wake');
  await home.ready('hublabel', 'night');
});

const run = (...args: string[]) => kubectlHub(home.namespace, args);

describe('kubectl hub', () => {
  test('status shows the tree of a real hub, and unfolds an area whose floor is missing', async () => {
    const ready = await run('status', 'villa');
    expect(ready.stdout).toMatch(/^✓ Hub villa {2}Ready {2}20\d\d\.\d+\.\S+ {2}http/);
    expect(ready.stdout).toContain('✓ HubAutomation  1 of 1 Ready');
    expect(ready.code).toBe(0);
    await home.apply(area('villa', 'kitchen', { name: 'Kitchen', floorName: 'Attic' }));
    await home.ready('hubarea', 'kitchen', { status: 'False', reason: 'FloorNotReady' });
    const { code, stdout } = await run('status');
    expect(stdout).toContain('kitchen ← floor Attic is missing');
    expect(code).toBe(1);
    await home.delete('hubarea', 'kitchen');
  });

  test('sync triggers a reconcile of resources', async () => {
    const { code, stdout } = await run('sync', 'haauto/wake', 'halb/night');
    expect(stdout.split('\n').sort()).toEqual([
      '',
      expect.stringMatching(/^HubAutomation wake: AutomationGenerated: /),
      expect.stringMatching(/^HubLabel night: LabelRegistered: /),
    ]);
    expect(code).toBe(0);
    const { metadata, status } = await home.get('hublabel', 'night');
    expect(metadata.annotations).toMatchObject({
      'hub-operator.dev/reconcile-requested-at': status!['lastHandledReconcileAt'],
    });
  });

  test('suspend pauses a resource until resume', async () => {
    expect(await run('suspend', 'halb/night')).toMatchObject({ code: 0 });
    expect(await home.condition('hublabel', 'night', 'Suspended')).toMatchObject({ status: 'True' });
    expect((await run('status')).stdout).toContain('HubLabel  0 of 1 Ready, 1 suspended');
    const { code, stdout } = await run('resume', 'halb/night');
    expect(stdout).toMatch(/^HubLabel night: LabelRegistered: /);
    expect(code).toBe(0);
  });

  test('trace shows a run with the path that was taken', async () => {
    const client = await home.client('villa');
    await client.rest.post('/api/events/wake', {});
    await until('the hub has the trace', async () => {
      const { stdout } = await run('trace', 'wake');
      expect(stdout).toMatch(/finished {2}triggered by event 'wake'/);
      expect(stdout).toMatch(/ trigger\/0\n/);
      expect(stdout).toMatch(/ action\/0\/choose\/0\/sequence\/0 /);
      return true;
    });
    expect(JSON.parse((await run('trace', 'wake', '-o', 'json')).stdout)).toMatchObject([
      { script_execution: 'finished', steps: expect.any(Array) as unknown },
    ]);
  });

  test('logs --system shows the warnings of the hub', async () => {
    const { rest } = await home.client('villa');
    await callService(rest, 'system_log', 'write', { message: 'the roof leaks', level: 'warning' });
    // Another thread of the hub writes its log.
    await until('the hub has the warning', async () => {
      const { code, stdout } = await run('logs', 'villa', '--system');
      expect(stdout).toMatch(/^\d{4}-\d\d-\d\dT\S+ WARNING \S+: the roof leaks/m);
      return code === 0;
    });
  });

  test('restart replaces the pod, and ends when the Hub is Ready', async () => {
    const before = (await home.get('pod', 'villa-0')).metadata.uid;
    const { code, stdout } = await run('restart', 'villa');
    expect(stdout).toMatch(/^Hub villa: HubRunning: /);
    expect(code).toBe(0);
    expect((await home.get('pod', 'villa-0')).metadata.uid).not.toBe(before);
  });
});

describe('kubectl hub validate', () => {
  test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    'leaves no process behind that parses a text when %s ends it',
    async (signal) => {
      const folder = await mkdtemp(join(tmpdir(), 'validate-'));
      try {
        // Each quote is a syntax error, so that the text takes seconds to parse.
        const file = join(folder, 'slow.yaml');
        await writeFile(file, `a: [\n${"'\n".repeat(240_000)}`);
        const command = spawn(process.execPath, [BUNDLE, 'validate', file], { stdio: 'ignore' });
        const ended = once(command, 'exit');
        const [reader] = await until('the text is being read', () => readersOf(command.pid!));
        // A stopped process cannot end itself.
        process.kill(reader!, 'SIGSTOP');
        command.kill(signal);
        expect(await ended).toEqual([null, signal]);
        await until('the reader has ended', () => !isAlive(reader!));
      } finally {
        await rm(folder, { recursive: true });
      }
    },
  );
});

/**
 * Returns the ids of the processes in which a command reads texts, or undefined when it has none. Until such a
 * process executes its own program it has the command line of the command, and the command waits for it in
 * `spawn`: if it was stopped then, the command would see no signal.
 */
async function readersOf(pid: number): Promise<readonly number[] | undefined> {
  const { stdout } = await promisify(execFile)('pgrep', ['-P', String(pid), '-f', '--', ' -e ']).catch(
    () => ({
      stdout: '',
    }),
  );
  return stdout === '' ? undefined : stdout.trim().split('\n').map(Number);
}
