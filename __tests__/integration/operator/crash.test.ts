import type { HubClient } from '../../../operator/client/hub-client';
import { getConfig } from '../../../operator/client/setup/core';
import { listTokens } from '../../../operator/client/setup/tokens';
import { freshNamespace, until } from '../../cluster';
import { ApiProxy, type Crossing } from '../../cluster/api-proxy';
import { automation, configuration, Home, hub, integration } from '../../cluster/home';
import { startTestOperator, type TestOperator } from '../../cluster/operator';

// kill -9 of the operator at exactly one request, for one request after another. The result is always the
// same.

/** In milliseconds: each restart of the operator may take half a minute on a busy machine. */
const MANY_RESTARTS = 1_200_000;

interface CrashPoint {
  readonly moment: 'before' | 'after';
  readonly at: string;
  readonly hits: (crossing: Crossing) => boolean;
}

const statusOf = ({ body }: Crossing) => (body as { status?: Record<string, unknown> } | undefined)?.status;
const bootstrapState = (crossing: Crossing) =>
  (statusOf(crossing)?.['bootstrap'] as { state?: string } | undefined)?.state;

const state = (moment: CrashPoint['moment'], name: string): CrashPoint => ({
  moment,
  at: `the state ${name}`,
  hits: (crossing) => crossing.path.endsWith('/hubs/villa/status') && bootstrapState(crossing) === name,
});
/** Matches every write of the Secret, by any method. */
const secret = (moment: CrashPoint['moment'], name: string): CrashPoint => ({
  moment,
  at: `the Secret ${name}`,
  hits: ({ method, path, body }) =>
    method !== 'GET' &&
    path.includes('/secrets') &&
    (body as { metadata?: { name?: string } } | undefined)?.metadata?.name === name,
});

let home: Home;
let operator: TestOperator;
let proxy: ApiProxy;
let client: HubClient;
/** The requests at which the operator is killed next, once each. */
let points: CrashPoint[] = [];
let crashed = false;

beforeAll(async () => {
  home = new Home(await freshNamespace('crash'));
  proxy = await ApiProxy.start(async (moment, crossing) => {
    const point = points.find((each) => each.moment === moment && each.hits(crossing));
    if (!point || crashed) return crashed ? 'drop' : 'on';
    points = points.filter((each) => each !== point);
    crashed = true;
    await operator.kill();
    return 'drop';
  });
  operator = await startTestOperator(home.namespace, { kubeconfig: proxy.kubeconfig });
});
afterAll(() => proxy?.stop());

/**
 * Runs an action, and starts the operator again after each kill, until it was killed at all points and `done`
 * returns true.
 */
async function throughAll(
  strikes: CrashPoint[],
  act: () => Promise<unknown>,
  done: () => Promise<boolean>,
): Promise<void> {
  points = strikes; // set first, because the request to hit may come before `act` has ended
  await act();
  const left = () => points.map(({ moment, at }) => `${moment} ${at}`).join(', ');
  await until(
    'all is done in spite of all crashes',
    async () => {
      if (crashed) {
        crashed = false;
        await operator.start();
      }
      if (points.length > 0) throw new Error(`still to come: ${left()}`);
      return done();
    },
    MANY_RESTARTS,
  );
}

const isReady = async (kind: string, name: string) => (await home.condition(kind, name))?.status === 'True';

jest.setTimeout(MANY_RESTARTS);

describe('an operator that is killed', () => {
  test('a bootstrap that is interrupted at every state ends with the same hub', async () => {
    const villa = hub('villa', {
      bootstrap: { location: { name: 'Crash site', latitude: '10.5', longitude: '-20.25' } },
    });
    const strikes = [
      state('after', 'WaitForHealth'),
      state('after', 'WaitForAPIReady'),
      state('after', 'CheckOnboarding'),
      state('after', 'PerformOnboarding'),
      secret('after', 'villa-admin'),
      state('after', 'CreateUser'),
      ...['SetCoreConfig', 'SetAnalytics', 'SetIntegration', 'CreateAPIToken'].flatMap((name) => [
        state('before', name),
        state('after', name),
      ]),
      secret('before', 'villa-api-token'),
      secret('after', 'villa-api-token'),
      state('before', 'Done'),
      state('after', 'Done'),
    ];
    await throughAll(
      strikes,
      () => home.apply(villa, configuration('villa')),
      () => isReady('hub', 'villa'),
    );

    client = await home.client('villa');
    const users = await client.connection.command('config/auth/list');
    expect(users.filter((user) => !user.system_generated).map(({ username }) => username)).toEqual(['admin']);
    expect(await getConfig(client.rest)).toMatchObject({
      location_name: 'Crash site',
      latitude: 10.5,
      longitude: -20.25,
    });
    const steps = await client.rest.get<{ done: boolean }[]>('/api/onboarding');
    expect(steps.map(({ done }) => done)).toEqual([true, true, true, true]);
    await until('one token of ours is left', async () => {
      const tokens = await listTokens(client.connection);
      return tokens.filter(({ client_name }) => client_name?.startsWith('Hub Operator ')).length === 1;
    });
    const made = await home.list('persistentvolumeclaims,statefulsets,controllerrevisions,pods,services');
    expect(made.map(({ kind }) => kind).sort()).toEqual([
      'ControllerRevision',
      'PersistentVolumeClaim',
      'Pod',
      'Service',
      'StatefulSet',
    ]);
  });

  const ofAutomation = (crossing: Crossing) => crossing.path.endsWith('/hubautomations/lights/status');

  test('an automation whose creation is interrupted between claim, write and record exists once', async () => {
    const strikes: CrashPoint[] = [
      {
        moment: 'after',
        at: 'the claim',
        hits: (crossing) => ofAutomation(crossing) && statusOf(crossing)?.['automationId'] === 'lights',
      },
      {
        moment: 'before',
        at: 'the note of the write',
        hits: (crossing) => ofAutomation(crossing) && statusOf(crossing)?.['appliedHash'] !== undefined,
      },
      {
        moment: 'before',
        at: 'Ready',
        hits: (crossing) => ofAutomation(crossing) && statusOf(crossing)?.['entityId'] !== undefined,
      },
    ];
    await throughAll(
      strikes,
      () => home.apply(automation('villa', 'lights')),
      () => isReady('hubautomation', 'lights'),
    );
    const entities = await client.connection.command('config/entity_registry/list');
    expect(
      entities.filter(({ platform }) => platform === 'automation').map(({ unique_id }) => unique_id),
    ).toEqual(['lights']);
    expect((await home.get('hubautomation', 'lights')).status).not.toHaveProperty('adopted');
  });

  test('a deletion that is interrupted before the finalizer is removed is completed', async () => {
    const strike: CrashPoint = {
      moment: 'before',
      at: 'the release of the finalizer',
      hits: ({ method, path }) => method === 'PATCH' && path.endsWith('/hubautomations/lights'),
    };
    await throughAll(
      [strike],
      () => home.delete('hubautomation', 'lights', { wait: false }),
      async () => !(await home.exists('hubautomation', 'lights')),
    );
    expect(await client.entities.read('automation', 'lights')).toBeUndefined();
  });

  /**
   * Runs an action several times: the operator is killed after the first write of the resource, then after
   * its second, and so on. Resolves with the number of writes.
   */
  async function killedAfterEach(
    name: (n: number) => string,
    act: (n: number) => Promise<unknown>,
    done: (n: number) => Promise<boolean>,
  ): Promise<number> {
    for (let n = 1; ; n++) {
      let writes = 0;
      const concerns = ({ method, path, body }: Crossing) => {
        const told = (body as { involvedObject?: { name?: string } } | undefined)?.involvedObject?.name;
        return method !== 'GET' && (path.split('/').includes(name(n)) || told === name(n));
      };
      const strike: CrashPoint = {
        moment: 'after',
        at: `write ${n}`,
        hits: (crossing) => concerns(crossing) && ++writes === n,
      };
      points = [strike];
      await act(n);
      await until(`it is done in spite of a crash after write ${n}`, async () => {
        if (crashed) {
          crashed = false;
          await operator.start();
        }
        return (await done(n)) && proxy.pendingWrites === 0;
      });
      if (points.includes(strike)) {
        points = [];
        return n - 1;
      }
    }
  }

  test('an operator that is killed after any write in an automation’s life leaves it in the desired state', async () => {
    const name = (n: number) => `nth-${n}`;
    const first = () => name(1);
    const has = async (id: string) => (await client.entities.read('automation', id)) !== undefined;
    const isDone = async (which: string) => {
      const { metadata, status } = await home.get('hubautomation', which);
      const ready = await home.condition('hubautomation', which);
      return ready?.status === 'True' && status?.['observedGeneration'] === metadata.generation;
    };
    const created = await killedAfterEach(
      name,
      (n) => home.apply(automation('villa', name(n))),
      async (n) => (await isDone(name(n))) && has(name(n)),
    );
    expect(created).toBeGreaterThanOrEqual(3); // finalizer, claim, result
    for (let n = 1; n <= created; n++)
      expect((await home.get('hubautomation', name(n))).status).not.toHaveProperty('adopted');

    const edited = await killedAfterEach(
      first,
      (n) => home.change('hubautomation', first(), { alias: `Edit ${n}` }),
      async (n) =>
        (await isDone(first())) &&
        (await client.entities.read('automation', first()))?.['alias'] === `Edit ${n}`,
    );
    expect(edited).toBeGreaterThanOrEqual(1);

    const moved = await killedAfterEach(
      first,
      (n) => home.change('hubautomation', first(), { id: `moved_${n}` }),
      async (n) => (await isDone(first())) && (await has(`moved_${n}`)),
    );
    expect(moved).toBeGreaterThanOrEqual(2); // claim, result
    const ids = async () =>
      (await client.connection.command('config/entity_registry/list'))
        .filter(({ platform }) => platform === 'automation')
        .map(({ unique_id }) => unique_id)
        .sort();
    const others = Array.from({ length: created }, (_, index) => name(index + 2));
    expect(await ids()).toEqual([`moved_${moved + 1}`, ...others].sort());

    const deleted = await killedAfterEach(
      (n) => name(n + 1),
      (n) => home.delete('hubautomation', name(n + 1), { wait: false }),
      async (n) => !(await home.exists('hubautomation', name(n + 1))),
    );
    expect(deleted).toBeGreaterThanOrEqual(1);
    for (let n = 1; n <= deleted + 1; n++) expect(await has(name(n + 1))).toBe(false);
  });

  test('an operator that is killed after any write of a config flow creates one entry for each resource', async () => {
    const name = (n: number) => `dice-${n}`;
    const dice = (title: string) =>
      integration('villa', title, 'random', {
        steps: [
          { stepId: 'user', menuOption: 'sensor' },
          {
            stepId: 'sensor',
            values: { name: { value: title }, minimum: { value: '1' }, maximum: { value: '6' } },
          },
        ],
      });
    const titles = async () =>
      [...(await client.configEntries.refreshed()).values()]
        .filter(({ domain }) => domain === 'random')
        .map(({ title }) => title)
        .sort();
    const isDone = (title: string) => isReady('hubintegration', title);
    const writes = await killedAfterEach(
      name,
      (n) => home.apply(dice(name(n))),
      (n) => isDone(name(n)),
    );
    expect(writes).toBeGreaterThanOrEqual(4); // finalizer, pending flow, its id, entry
    const made = Array.from({ length: writes + 1 }, (_, index) => name(index + 1));

    // The hub has created the entry, and status does not have it.
    const unknown: CrashPoint = {
      moment: 'before',
      at: 'the id of the entry',
      hits: (crossing) =>
        crossing.path.endsWith('/hubintegrations/unknown/status') &&
        statusOf(crossing)?.['entryID'] !== undefined,
    };
    await throughAll(
      [unknown],
      () => home.apply(dice('unknown')),
      () => isDone('unknown'),
    );
    expect(await titles()).toEqual([...made, 'unknown'].sort());
    for (const each of made)
      expect((await home.get('hubintegration', each)).status).not.toHaveProperty('adopted');
    // A user may have created the entry.
    expect((await home.get('hubintegration', 'unknown')).status).toMatchObject({ adopted: true });

    const removed = await killedAfterEach(
      (n) => name(n),
      (n) => home.delete('hubintegration', name(n), { wait: false }),
      async (n) => !(await home.exists('hubintegration', name(n))),
    );
    expect(removed).toBeGreaterThanOrEqual(1);
    for (let n = 1; n <= removed + 1; n++) expect(await titles()).not.toContain(name(n));
  });
});
