import { userAnnotations } from '../../../operator/kinds/annotations';
import { CommandError } from '../../../cli/command-error';
import { HubUnreachable, TokenRejected } from '../../../operator/client/connection/errors';
import type { CustomResource } from '../../../operator/kinds/resource';
import { systemClock } from '../../../operator/base/clock';
import { HubClient } from '../../../operator/client/hub-client';
import { readOccupation } from '../../../cli/reconcile/occupation';
import { silentLog } from '../../../cli/hub/silent-log';
import { FakeHub, json } from '../client/fake-hub';
import { notFound } from '../runtime/fake-api-client';
import { CommandLine, forbidden, merge, ofHub, resource } from './command-line';

const villa = resource('Hub', 'villa', {}, { reason: 'HubRunning', message: 'The hub runs.' });
const porch = resource('HubAutomation', 'porch', ofHub('villa'), {
  reason: 'AutomationGenerated',
  message: 'It is in use.',
});

const set = (object: CustomResource, change: object) =>
  merge(object as unknown as Record<string, unknown>, change as Record<string, unknown>);
const condition = (type: string, status: string, reason: string, message: string) => ({
  type,
  status,
  reason,
  message,
  observedGeneration: 2,
  lastTransitionTime: '2026-01-01T00:00:00Z',
});

/** Copies the annotation to the status after some seconds, as the operator does. */
function operate(line: CommandLine, seconds: number, status: object = {}): void {
  line.afterWrite = (object) => {
    line.clock.after(seconds * 1_000, () =>
      set(object, {
        status: {
          lastHandledReconcileAt: object.metadata.annotations?.[userAnnotations.reconcileAt],
          observedGeneration: object.metadata.generation,
          ...status,
        },
      }),
    );
  };
}

describe('sync', () => {
  test('--with-resources ends with the tree of status', async () => {
    const line = new CommandLine(villa, porch);
    operate(line, 1);
    const { code, stdout } = await line.run('sync villa --with-resources');
    expect(stdout).toMatch(/^✓ Hub villa .*\n└─ ✓ HubAutomation {2}1 of 1 Ready\n$/);
    expect(code).toBe(0);
    expect(JSON.parse((await line.run('sync villa --with-resources -o json')).stdout)).toHaveLength(2);
  });

  test('ends with a later request of another user, which has replaced its own', async () => {
    const line = new CommandLine(villa, porch);
    const LATER = 'later';
    line.afterWrite = (object) => {
      set(object, { metadata: { annotations: { [userAnnotations.reconcileAt]: LATER } } });
      line.clock.after(3_000, () => set(object, { status: { lastHandledReconcileAt: LATER } }));
    };
    expect(await line.run('sync haauto/porch')).toMatchObject({ code: 0 });
    expect(line.clock.monotonic()).toBeLessThan(10_000);
  });

  test('requests a reconcile and waits until it is done', async () => {
    const line = new CommandLine(villa, porch);
    operate(line, 3);
    const began = line.clock.monotonic();
    expect(await line.run('sync haauto/porch')).toEqual({
      code: 0,
      stdout: 'HubAutomation porch: AutomationGenerated: It is in use.\n',
      stderr: '',
    });
    expect(line.clock.monotonic() - began).toBeGreaterThanOrEqual(3_000);
    expect(line.client.writes).toMatchObject([
      {
        method: 'PATCH',
        contentType: 'application/merge-patch+json',
        query: { fieldManager: 'kubectl-hub' },
      },
    ]);
  });

  test('-o json prints the states of all, when all are done', async () => {
    const line = new CommandLine(villa, porch);
    operate(line, 3);
    const { code, stdout } = await line.run('sync villa --with-resources -o json');
    expect(JSON.parse(stdout)).toEqual([
      { kind: 'Hub', name: 'villa', state: 'Ready', reason: 'HubRunning', message: 'The hub runs.' },
      expect.objectContaining({ kind: 'HubAutomation', name: 'porch', state: 'Ready' }),
    ]);
    expect(code).toBe(0);
  });

  test('a resource that is not Ready afterwards causes exit code 1', async () => {
    const line = new CommandLine(villa, porch);
    operate(line, 1, {
      conditions: [
        { ...condition('Ready', 'False', 'RejectedByHub', 'No such trigger.'), observedGeneration: 1 },
        { ...condition('Stalled', 'True', 'RejectedByHub', 'No such trigger.'), observedGeneration: 1 },
      ],
    });
    const { code, stdout } = await line.run('sync haauto/porch');
    expect(stdout).toBe('HubAutomation porch: RejectedByHub: No such trigger.\n');
    expect(code).toBe(1);
  });

  test('a wait ends with the timeout, and says for what it waited', async () => {
    const { code, stderr } = await new CommandLine(villa).run('sync villa --timeout 1m30s');
    expect(stderr).toBe('error: Hub villa is not there after 90 s: waiting for the operator\n');
    expect(code).toBe(1);
  });

  test('--no-wait returns immediately', async () => {
    expect(await new CommandLine(villa).run('sync villa --no-wait')).toMatchObject({
      code: 0,
      stdout: 'Hub villa: requested\n',
    });
  });

  test('--with-resources includes what belongs to the Hub, each once', async () => {
    const other = resource('HubLabel', 'elsewhere', ofHub('chalet'));
    const line = new CommandLine(villa, porch, other);
    operate(line, 1);
    const { stdout } = await line.run('sync villa haauto/porch --with-resources -o json');
    const names = (JSON.parse(stdout) as { readonly name: string }[]).map(({ name }) => name);
    expect(names.sort()).toEqual(['porch', 'villa']);
  });

  test.each([
    ['sync chalet', /no Hub and no other resource in the namespace home is called chalet/],
    ['sync lamp/porch', /there is no kind lamp: use one of Hub, HubConfiguration/],
    ['sync haauto/', /names no resource: write KIND\/NAME/],
    ['sync villa --timeout soon', /Write it like 90s/],
    ['sync', /missing required argument 'resource'/],
    ['sinc', /unknown command 'sinc'.*\n.*Did you mean sync/s],
  ])('%s is refused with a remedy', async (command, message) => {
    const { code, stderr } = await new CommandLine(villa).run(command);
    expect(stderr).toMatch(message);
    expect(code).toBe(2);
  });
});

describe('suspend and resume', () => {
  test('set the field, and wait for the condition', async () => {
    const line = new CommandLine(porch);
    line.afterWrite = (object) =>
      void line.clock.after(2_000, () =>
        set(object, {
          status: {
            observedGeneration: object.spec.suspend ? 1 : object.metadata.generation,
            conditions: object.spec.suspend
              ? [condition('Ready', 'True', 'A', 'B'), condition('Suspended', 'True', 'Suspended', 'C')]
              : [{ ...condition('Ready', 'True', 'Done', 'Again.'), observedGeneration: 3 }],
          },
        }),
      );
    expect(await line.run('suspend haauto/porch')).toMatchObject({
      code: 0,
      stdout: 'HubAutomation porch: Suspended: the operator changes nothing for it\n',
    });
    expect(line.objects[0]!.spec.suspend).toBe(true);
    expect(await line.run('resume haauto/porch')).toMatchObject({
      code: 0,
      stdout: 'HubAutomation porch: Done: Again.\n',
    });
    expect(line.objects[0]!.spec.suspend).toBe(false);
  });

  test.each(['sync', 'suspend', 'resume'])(
    '%s of a resource that does not exist names the namespace',
    async (command) => {
      const { code, stderr } = await new CommandLine(villa).run(`${command} halb/nope`);
      expect(stderr).toBe(
        'error: there is no HubLabel nope in the namespace home: name another one, or choose the namespace with -n\n',
      );
      expect(code).toBe(2);
    },
  );

  test('a resource that is not Ready after resume causes exit code 1', async () => {
    const line = new CommandLine(resource('HubLabel', 'a', { ...ofHub('villa'), suspend: true }));
    line.afterWrite = (object) =>
      set(object, {
        status: {
          observedGeneration: 2,
          conditions: [
            condition('Ready', 'False', 'InvalidSpec', 'No.'),
            condition('Stalled', 'True', 'InvalidSpec', 'No.'),
          ],
        },
      });
    expect(await line.run('resume halb/a')).toMatchObject({
      code: 1,
      stdout: 'HubLabel a: InvalidSpec: No.\n',
    });
  });
});

describe('restart', () => {
  const set1 = { metadata: { name: 'villa', generation: 1 } };
  const rolled = (revision: string, readyReplicas: number, observedGeneration = 2) => ({
    ...set1,
    status: { observedGeneration, currentRevision: revision, updateRevision: 'new', readyReplicas },
  });

  test('restarts the pod as kubectl does, and waits for the new one and for the Hub', async () => {
    const line = new CommandLine(villa);
    const states = [rolled('old', 1, 1), rolled('old', 0), rolled('new', 0), rolled('new', 1)];
    line.intercept = ({ method, path }) => {
      if (!path.endsWith('/statefulsets/villa')) return undefined;
      return method === 'PATCH' ? { metadata: { name: 'villa', generation: 2 } } : states.shift();
    };
    expect(await line.run('restart villa')).toMatchObject({
      code: 0,
      stdout: 'Hub villa: HubRunning: The hub runs.\n',
    });
    expect(states).toEqual([]);
    expect(line.client.writes.map(({ body }) => body)).toEqual([
      {
        spec: {
          template: {
            metadata: {
              annotations: {
                'kubectl.kubernetes.io/restartedAt': expect.stringMatching(/^2026-01-01T/) as string,
              },
            },
          },
        },
      },
    ]);
  });

  test.each([
    ['migration', 'the hub converts its database to a newer schema'],
    ['backup', 'the hub makes or restores a backup'],
  ] as const)('is refused during a %s, unless it is forced', async (occupation, why) => {
    const line = new CommandLine(villa);
    line.intercept = ({ path }) => (path.endsWith('/statefulsets/villa') ? rolled('new', 1) : undefined);
    line.readOccupation = () => Promise.resolve(occupation);
    const { code, stderr } = await line.run('restart villa');
    expect(stderr).toContain(`error: Hub villa: ${why}`);
    expect(stderr).toContain('use --force to restart it all the same');
    expect(code).toBe(1);
    expect(line.client.writes).toEqual([]);
    expect(await line.run('restart villa --force')).toMatchObject({ code: 0 });
    expect(line.client.writes).toHaveLength(1);
  });

  test.each([
    ['does not answer', new HubUnreachable('connect ECONNREFUSED 127.0.0.1:8123')],
    ['rejects the token', new TokenRejected('HTTP 401')],
    ['has no address yet', new CommandError('the address of the Hub villa is not known yet')],
    ['has a token that may not be read', forbidden()],
  ])('is refused where the hub %s, unless it is forced', async (_, error) => {
    const line = new CommandLine(villa);
    line.intercept = ({ path }) => (path.endsWith('/statefulsets/villa') ? rolled('new', 1) : undefined);
    line.readOccupation = () => Promise.reject(error);
    const { code, stderr } = await line.run('restart villa');
    expect(stderr).toContain(
      `the hub of the Hub villa cannot be asked whether it converts its database or makes a backup: ${error.message}. Nothing was restarted`,
    );
    expect(stderr).toContain('--force restarts it all the same, which ends such work');
    expect(code).toBe(2);
    expect(line.client.writes).toEqual([]);
    expect(await line.run('restart villa --force')).toMatchObject({ code: 0 });
    expect(line.client.writes).toHaveLength(1);
  });

  test('a pod that does not become ready causes exit code 1', async () => {
    const line = new CommandLine(villa);
    line.intercept = ({ path }) => (path.endsWith('/statefulsets/villa') ? rolled('old', 0) : undefined);
    expect(await line.run('restart villa --timeout 1m')).toMatchObject({
      code: 1,
      stderr: 'error: Hub villa: its pod is not ready after 60 s\n',
    });
  });

  test('a hub without a pod is an error', async () => {
    const line = new CommandLine(villa);
    line.intercept = ({ path }) => {
      if (path.endsWith('/statefulsets/villa')) throw notFound();
      return undefined;
    };
    expect((await line.run('restart villa')).code).toBe(2);
  });
});

describe('readOccupation', () => {
  const of = async (recorder: object, backup: string | undefined) => {
    const hub = await FakeHub.start();
    hub.routes.set('GET /api/core/state', json(200, { state: 'RUNNING', recorder_state: recorder }));
    hub.onCommand = ({ succeed, fail }) =>
      backup === undefined ? fail('unknown_command', 'Unknown command.') : succeed({ state: backup });
    const options = { url: hub.url, token: hub.token, clock: systemClock, log: silentLog };
    const client = new HubClient(options);
    try {
      return await readOccupation(client);
    } finally {
      client.close();
      await hub.close();
    }
  };

  test.each([
    [{ migration_in_progress: true }, 'idle', 'migration'],
    [{ migration_in_progress: false }, 'create_backup', 'backup'],
    [{ migration_in_progress: false }, 'restore_backup', 'backup'],
    [{ migration_in_progress: false }, 'idle', undefined],
    [{}, undefined, undefined],
  ])('with the database %j and the backup %s it is %s', async (recorder, backup, expected) => {
    expect(await of(recorder, backup)).toBe(expected);
  });
});
