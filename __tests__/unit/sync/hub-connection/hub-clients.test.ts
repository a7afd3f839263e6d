import { setTimeout as sleep } from 'node:timers/promises';
import type { Hub } from '../../../../operator/kinds';
import { HUB_LABEL } from '../../../../operator/kinds/annotations';
import { HubRejected, HubUnreachable } from '../../../../operator/client/connection/errors';
import { ready as readyOutcome, stalled, type Waiting, waiting } from '../../../../operator/runtime/outcome';
import { HAND_OVER, type ReconcileContext, type SyncModule } from '../../../../operator/runtime/sync-module';
import type { Child } from '../../../../operator/sync/objects/child';
import { childModule } from '../../../../operator/sync/objects/child-module';
import { HubClients } from '../../../../operator/sync/hub-connection/hub-clients';
import type { Services } from '../../../../operator/sync/services';
import { silentLog } from '../../../cluster/silent-log';
import { CONFIG, FakeHub } from '../../client/fake-hub';
import { ManualClock } from '../../manual-clock';
import { until } from '../../until';
import { secretReader, services } from '../fixtures';

let secrets: Map<string, ReadonlyMap<string, string>>;
let phase: string;
let ready: 'True' | 'False';
/** Message of the condition Ready of the Hub. */
let message: string;
let uid: string;
let hubExists: boolean;
/** An address on which nothing listens, unless a test starts a server. */
let hubUrl: string;
let server: FakeHub | undefined;
let hubSpec: Hub['spec'];
let deletionTimestamp: string | undefined;
let clock: ManualClock;
let given: Services;
let hubs: HubClients;
let requeued: string[];

beforeEach(() => {
  ready = 'True';
  message = 'It is not well.';
  phase = 'Running';
  secrets = new Map(
    ['villa', 'cabin'].map((name) => [`${name}-api-token`, new Map([['token', 'the-token']])]),
  );
  uid = '1';
  hubExists = true;
  hubUrl = 'http://127.0.0.1:9';
  hubSpec = {};
  deletionTimestamp = undefined;
  clock = new ManualClock();
  requeued = [];
  const hub = (name: string) =>
    ({
      kind: 'Hub',
      metadata: { namespace: 'home', name, uid: `${name}-${uid}`, deletionTimestamp },
      spec: hubSpec,
      status: {
        phase,
        url: hubUrl,
        conditions: [{ type: 'Ready', status: ready, reason: 'X', message }],
      },
    }) as unknown as Hub;
  given = services({
    clock,
    requeue: (kind, _, name) => void requeued.push(`${kind} ${name}`),
    secrets: secretReader((name) => secrets.get(name)),
    cache: {
      list: function* () {},
      get: (kind: string, _: string, name: string) =>
        (kind === 'Hub'
          ? hubExists
            ? hub(name)
            : undefined
          : secrets.has(name)
            ? { metadata: { name, labels: { [HUB_LABEL]: 'villa' } } }
            : undefined) as never,
    },
  });
  hubs = new HubClients(given);
});

afterEach(async () => {
  hubs.close();
  await server?.close();
});

const redact = async (text: string) => {
  const reached = await hubs.reach('home', 'villa');
  if (!('client' in reached)) throw new Error(reached.outcome.message);
  return reached.client.rest.redact(text);
};

describe('HubClients', () => {
  test('mask the current values of the HubSecrets in messages of the hub', async () => {
    expect(await redact('the-token hunter2')).toBe('*** hunter2');
    secrets.set('villa-secrets', new Map([['secrets.yaml', 'wifi: "hunter2"\n']]));
    expect(await redact('the-token hunter2')).toBe('*** ***');
    secrets.set('villa-secrets', new Map([['secrets.yaml', 'wifi: "hunter3"\n']]));
    expect(await redact('the-token hunter3')).toBe('*** ***');
  });

  test('read only those parts of a Hub on which the access depends, since each reconcile of each child asks', async () => {
    const storage = Object.defineProperty({}, 'size', {
      enumerable: true,
      get: () => {
        throw new Error('spec.storage.size was read');
      },
    });
    hubSpec = { storage };
    expect(await hubs.reach('home', 'villa')).toHaveProperty('client');
  });

  test('mask every line of a secrets.yaml that is not YAML', async () => {
    secrets.set('villa-secrets', new Map([['secrets.yaml', 'hunter2\n: [']]));
    expect(await redact('hunter2')).toBe('***');
  });

  test('return the client of a running hub although its Hub is not Ready, and none of another', async () => {
    ready = 'False';
    expect(await hubs.reach('home', 'villa')).toHaveProperty('client');
    ready = 'True';
    for (phase of ['Pending', 'Failed', 'Unknown'])
      expect(await hubs.reach('home', 'villa')).toMatchObject({ outcome: { reason: 'HubNotReady' } });
  });

  test('report the same for a hub that is not usable in each step of its start, and requeue after minutes', async () => {
    ready = 'False';
    const outcomes = [];
    for (phase of ['Pending', 'Failed', 'Unknown']) {
      for (message of ['Pod villa-0 is being replaced.', 'Pod villa-0 is starting.', '']) {
        const reached = await hubs.reach('home', 'villa');
        if ('client' in reached) throw new Error('it is usable');
        outcomes.push(reached.outcome);
      }
    }
    expect(new Set(outcomes.map((outcome) => outcome.message)).size).toBe(1);
    for (const { after, priority } of outcomes as Waiting[]) {
      expect(after).toBeGreaterThanOrEqual(300_000);
      expect(priority).toBe('resync');
    }
  });

  test('do not advise to create a Secret that the bootstrap creates', async () => {
    secrets.clear();
    const reached = await hubs.reach('home', 'villa');
    expect(reached).toMatchObject({
      outcome: {
        reason: 'TokenNotAvailable',
        message:
          'Waiting for the API token of the Hub villa: The Secret villa-api-token does not exist yet. The bootstrap creates it.',
      },
    });
  });

  test('still reach the hub of a Hub that is being deleted when the Secret of its token is gone', async () => {
    const reached = await hubs.reach('home', 'villa');
    secrets.clear();
    expect(await hubs.contact(hubs.find('home', 'villa')!)).toHaveProperty('missing');
    deletionTimestamp = '2026-01-01T00:00:00Z';
    const contacted = await hubs.contact(hubs.find('home', 'villa')!);
    expect('client' in contacted && 'client' in reached && contacted.client === reached.client).toBe(true);
  });

  test('close the client of a Hub that is deleted without being reconciled, such as a suspended one', async () => {
    await hubs.reach('home', 'villa');
    const [client] = hubs.all;
    const close = jest.spyOn(client!, 'close');
    await clock.advance(3_600_000);
    expect([hubs.all.length, close.mock.calls.length]).toEqual([1, 0]);
    hubExists = false;
    await clock.advance(30_000);
    expect([hubs.all.length, close.mock.calls.length]).toEqual([0, 1]);
    expect(clock.pendingTimers).toBe(0);
  });

  test('give a Hub that was created again another client than the deleted one', async () => {
    const access = { url: 'http://127.0.0.1:9', token: 'the-token' };
    const first = hubs.client(hubs.find('home', 'villa')!, access);
    uid = '2';
    expect(hubs.client(hubs.find('home', 'villa')!, access)).not.toBe(first);
  });
});

describe('childModule', () => {
  const childOf = (name: string) =>
    ({
      metadata: { namespace: 'home', name: 'lights', uid: 'u' },
      spec: { hubRef: { name } },
    }) as unknown as Child;
  let removed: number;
  let hang: boolean;
  let forgotten: number;
  let failure: Error | undefined;
  let object: string | undefined;
  let module: SyncModule<Child>;
  const remove = (name = 'villa') => module.remove!(childOf(name), {} as ReconcileContext);

  beforeEach(() => {
    removed = 0;
    hang = false;
    forgotten = 0;
    failure = undefined;
    object = 'automation lights';
    module = childModule<Child>(given, hubs, {
      sync: () => Promise.reject(new Error('not asked')),
      remove: () => {
        removed++;
        if (hang) return new Promise(() => undefined);
        return failure ? Promise.reject(failure) : Promise.resolve([]);
      },
      forget: () => void forgotten++,
      objectOf: () => object,
    });
  });

  test('skips the removals of a hub that did not respond for 30 s, and those of no other hub', async () => {
    failure = new HubUnreachable('the hub does not answer');
    expect(await remove()).toEqual(left('The hub does not answer'));
    failure = undefined;
    await clock.advance(29_000);
    expect(await remove()).toMatchObject([{ reason: 'CleanupSkipped' }]);
    expect(removed).toBe(1);
    expect(await remove('cabin')).toEqual([]);
    expect(removed).toBe(2);
    await clock.advance(1_001);
    expect(await remove()).toEqual([]);
    expect(removed).toBe(3);
  });

  test('repeats a removal without an answer while the hub answers other requests', async () => {
    server = await FakeHub.start();
    hubUrl = server.url;
    failure = new HubUnreachable('no answer within 30 s');
    for (let count = 1; count <= 5; count++) {
      expect(await remove()).toMatchObject({
        type: 'Waiting',
        reason: 'Removing',
        message: expect.stringMatching(/automation lights is not removed .* no answer within 30 s/),
      });
      await clock.advance(5_000);
    }
    expect([removed, forgotten]).toEqual([5, 0]);
    await server.close();
    expect(await remove()).toEqual(left('No answer within 30 s'));
  });

  describe('while a hub hangs', () => {
    const uids = ['a', 'b', 'c', 'd', 'e', 'f'];
    const resourceOf = (id: string) =>
      ({ ...childOf('villa'), metadata: { namespace: 'home', name: id, uid: id } }) as Child;
    const removeAll = () => uids.map((id) => module.remove!(resourceOf(id), {} as ReconcileContext));
    const hangs = () => server!.routes.set('GET /manifest.json', () => undefined);
    /** Returns the milliseconds until all have ended. */
    async function ended(all: readonly Promise<unknown>[]): Promise<number> {
      const began = clock.monotonic();
      let isOver = false;
      void Promise.all(all).then(() => (isOver = true));
      while (!isOver && clock.monotonic() < began + 60_000) {
        await clock.advance(100);
        await sleep(2);
      }
      return clock.monotonic() - began;
    }

    beforeEach(async () => {
      server = await FakeHub.start();
      server.token = 'the-token';
      hubUrl = server.url;
      hang = true;
    });

    test('all objects that are deleted at the same time are released within 5 s, after one question, and all later ones immediately', async () => {
      hangs();
      const all = removeAll();
      expect(await ended(all)).toBeLessThanOrEqual(5_200);
      for (const each of all) expect(await each).toEqual(left('The hub did not respond within 5 s'));
      expect(removed).toBe(6);
      expect(server!.asked('/manifest.json')).toHaveLength(1);
      await clock.advance(24_000);
      expect(await Promise.all(removeAll())).toMatchObject(uids.map(() => [{ reason: 'CleanupSkipped' }]));
      expect(removed).toBe(6);
      expect(server!.asked('/manifest.json')).toHaveLength(1);
    });

    test('the time begins with the deletion, also while the removal waits for a successor', async () => {
      await hubs.contact(hubs.find('home', 'villa')!);
      hangs();
      module.announceDeletion!(resourceOf('a'));
      await ended([clock.sleep(4_000)]);
      expect(await ended([module.remove!(resourceOf('a'), {} as ReconcileContext)])).toBeLessThanOrEqual(
        1_200,
      );
    });

    test('a removal that takes the hub longer than 5 s continues while the hub answers, and ends 5 s after its last answer', async () => {
      const first = module.remove!(resourceOf('a'), {} as ReconcileContext);
      await ended([first]);
      expect(await first).toMatchObject({ type: 'Waiting', reason: 'Removing' });
      const second = module.remove!(resourceOf('a'), {} as ReconcileContext);
      await ended([clock.sleep(2_500)]);
      hangs();
      await ended([second]);
      expect(await ended([module.remove!(resourceOf('a'), {} as ReconcileContext)])).toBeLessThanOrEqual(
        4_500,
      );
    });

    test('the hub is no longer asked when nothing is being removed', async () => {
      hang = false;
      expect(await Promise.all(removeAll())).toEqual(uids.map(() => []));
      await ended([clock.sleep(20_000)]);
      expect(server!.asked('/manifest.json').length).toBeLessThanOrEqual(2);
      hang = true;
      void module.remove!(resourceOf('a'), {} as ReconcileContext);
      await ended([clock.sleep(20_000)]);
      const { length } = server!.asked('/manifest.json');
      await ended([clock.sleep(20_000)]);
      expect(server!.asked('/manifest.json')).toHaveLength(length);
    });

    describe('a reconcile of the deleted resource that waits for it', () => {
      let signal: AbortSignal | undefined;
      let synced: Promise<unknown>;

      beforeEach(() => {
        module = childModule<Child>(given, hubs, {
          sync: (_resource, _client, context) => {
            signal = context.signal;
            return new Promise(() => undefined);
          },
          remove: () => {
            removed++;
            return Promise.resolve([]);
          },
          forget: () => undefined,
          objectOf: () => object,
        });
        synced = module.sync(resourceOf('a'), { log: silentLog } as ReconcileContext);
      });

      test('is given up after 5 s and sends nothing more, and the resource is released immediately', async () => {
        await until(() => signal !== undefined);
        hangs();
        module.announceDeletion!(resourceOf('a'));
        expect(await ended([synced])).toBeLessThanOrEqual(5_200);
        expect(await synced).toMatchObject({ type: 'Waiting', reason: 'HubUnreachable', unreported: true });
        expect(signal!.aborted).toBe(true);
        expect(await module.remove!(resourceOf('a'), {} as ReconcileContext)).toMatchObject([
          { reason: 'CleanupSkipped' },
        ]);
        expect(removed).toBe(0);
        // The next resource does not wait for another answer of the hub.
        signal = undefined;
        const next = module.sync(resourceOf('b'), { log: silentLog } as ReconcileContext);
        await until(() => signal !== undefined);
        module.announceDeletion!(resourceOf('b'));
        expect(await ended([next])).toBeLessThanOrEqual(200);
      });

      test('continues while the hub answers, and so does that of a resource that is not deleted', async () => {
        await until(() => signal !== undefined);
        module.announceDeletion!(resourceOf('a'));
        await ended([clock.sleep(6_000)]);
        expect(signal!.aborted).toBe(false);
        hangs();
        module.announceDeletion!(resourceOf('b'));
        await ended([clock.sleep(20_000)]);
        expect(signal!.aborted).toBe(false);
      });
    });
  });

  test('forgets a resource whose removal fails or is skipped', async () => {
    failure = new HubUnreachable('no');
    await remove();
    expect(forgotten).toBe(1);
    await remove();
    expect([removed, forgotten]).toEqual([1, 2]);
  });

  test('masks secrets of the hub in the outcome of every kind', async () => {
    server = await FakeHub.start();
    server.token = 'the-token';
    hubUrl = server.url;
    module = childModule<Child>(given, hubs, {
      sync: () => Promise.resolve(stalled('RejectedByHub', 'The hub rejected it: the-token is wrong.')),
      remove: () => Promise.resolve([]),
      forget: () => undefined,
      objectOf: () => undefined,
    });
    const context = { log: silentLog } as ReconcileContext;
    const { message: shown } = await module.sync(childOf('villa'), context);
    expect(shown).toBe('The hub rejected it: *** is wrong.');
  });

  describe('while the hub is not there for a reconcile', () => {
    let synced: number;
    const sync = () => module.sync(childOf('villa'), { log: silentLog } as ReconcileContext);

    beforeEach(async () => {
      synced = 0;
      server = await FakeHub.start();
      server.token = 'the-token';
      hubUrl = server.url;
      module = childModule<Child>(given, hubs, {
        sync: () => {
          synced++;
          return Promise.resolve(readyOutcome('AutomationGenerated', 'In use.'));
        },
        remove: () => Promise.resolve([]),
        forget: () => undefined,
        objectOf: () => undefined,
        isWorking: () => isWorking,
      });
    });
    let isWorking = false;

    test('waits for a hub that has not started, leaves the report to the Hub, and continues automatically', async () => {
      let state = 'STARTING';
      server!.onCommand = (command) => command.succeed({ ...CONFIG, state });
      expect(await sync()).toMatchObject({ type: 'Waiting', reason: 'HubNotReady', unreported: true });
      expect(requeued).toEqual(['Hub villa']);
      await clock.advance(30_000);
      const reported = await sync();
      expect(reported).toMatchObject({ type: 'Waiting', reason: 'HubNotReady' });
      expect(reported).not.toHaveProperty('unreported');
      state = 'RUNNING';
      await clock.advance(10_000);
      expect(await sync()).toMatchObject({ type: 'Ready' });
      expect(synced).toBe(1);
    });

    test('leaves each outage to the Hub for a while: an answer of the hub ends the one before', async () => {
      const errors = [
        new HubUnreachable('no answer'),
        new HubRejected('400', 'no'),
        new HubUnreachable('no answer'),
      ];
      module = childModule<Child>(given, hubs, {
        sync: () => Promise.reject(errors.shift()!),
        remove: () => Promise.resolve([]),
        forget: () => undefined,
        objectOf: () => undefined,
      });
      expect(await sync()).toMatchObject({ reason: 'HubUnreachable', unreported: true });
      await clock.advance(20_000);
      expect(await sync()).toMatchObject({ reason: 'RejectedByHub' });
      await clock.advance(20_000);
      expect(await sync()).toMatchObject({ reason: 'HubUnreachable', unreported: true });
    });

    test('begins nothing that a restart would interrupt, and ends running work', async () => {
      let isHeld = true;
      hubs.holdWhile(() => isHeld);
      expect(await sync()).toMatchObject({ type: 'Waiting', reason: 'HubNotReady', unreported: true });
      expect(synced).toBe(0);
      isWorking = true;
      expect(await sync()).toMatchObject({ type: 'Ready' });
      isWorking = false;
      isHeld = false;
      expect(await sync()).toMatchObject({ type: 'Ready' });
    });

    test('reports what a dry-run would do although a restart is due', async () => {
      hubs.holdWhile(() => true);
      const context = { log: silentLog, dryRun: true } as ReconcileContext;
      expect(await module.sync(childOf('villa'), context)).toMatchObject({ type: 'Ready' });
    });
  });

  test('waits for a Hub that does not exist, and does not poll for it', async () => {
    hubExists = false;
    const outcome = await module.sync(childOf('villa'), {} as ReconcileContext);
    expect(outcome).toMatchObject({ type: 'Waiting', reason: 'HubNotFound' });
    expect(outcome.after).toBeGreaterThanOrEqual(30_000);
  });

  const left = (why: string) => [
    {
      type: 'Warning',
      reason: 'CleanupSkipped',
      message: `The automation lights may still be in the hub. ${why}`,
    },
  ];

  describe('an object to which others in the hub refer', () => {
    const successor = childOf('villa');
    let running: Waiting | undefined;
    let released: number;

    beforeEach(() => {
      running = undefined;
      released = 0;
      module = childModule<Child>(given, hubs, {
        sync: () => Promise.reject(new Error('not asked')),
        remove: () => {
          removed++;
          return Promise.resolve(removed < 2 ? waiting('Removing', '', 1_000) : []);
        },
        release: () => {
          released++;
          return running;
        },
        forget: () => void forgotten++,
        objectOf: () => object,
        isReferenced: true,
      });
    });
    const handOver = () => module.remove!(childOf('villa'), {} as ReconcileContext, successor);

    test('stays for a moment, so that a resource of another name can take it over', async () => {
      expect(await remove()).toMatchObject({ type: 'Waiting', after: 3_000 });
      await clock.advance(2_000);
      expect(await remove()).toMatchObject({ type: 'Waiting', after: 1_000 });
      expect(await handOver()).toBe(HAND_OVER);
      expect([removed, forgotten]).toEqual([0, 1]);
    });

    test('has its work ended while its resource is held, if the hub has a client', async () => {
      module.hold!(childOf('villa'));
      expect(released).toBe(0);
      await remove();
      await clock.advance(3_000);
      await remove();
      const before = released;
      module.hold!(childOf('villa'));
      expect(released).toBe(before + 1);
    });

    test('is removed afterwards, and no resource takes it over then', async () => {
      await remove();
      await clock.advance(3_000);
      expect(await remove()).toMatchObject({ type: 'Waiting', after: 1_000 });
      expect(await handOver()).toEqual([]);
      expect(removed).toBe(2);
    });

    test('is not waited for without an object, without a Hub and while the Hub is being deleted', async () => {
      removed = 1;
      object = undefined;
      expect(await remove()).toEqual([]);
      object = 'area kitchen';
      hubSpec = { external: { url: 'http://box.example.org', tokenSecretRef: { name: 'villa-api-token' } } };
      deletionTimestamp = '2026-01-01T00:00:00Z';
      expect(await remove()).toEqual([]);
      hubExists = false;
      expect(await remove()).toMatchObject([{ reason: 'CleanupSkipped' }]);
      expect(await handOver()).toBe(HAND_OVER);
    });

    test('is handed over when the work of the deleted resource has ended', async () => {
      running = waiting('ConfigFlowInProgress', '', 5_000);
      expect(await handOver()).toBe(running);
      running = undefined;
      expect(await handOver()).toBe(HAND_OVER);
    });
  });

  test('names the object that it cannot remove since the Hub does not exist', async () => {
    hubExists = false;
    expect(await remove()).toEqual(left('The Hub villa does not exist.'));
    object = undefined;
    expect(await remove()).toEqual([]);
    expect(removed).toBe(0);
  });

  test('leaves the object to a Hub that is being deleted, and names it where the volume is kept', async () => {
    deletionTimestamp = '2026-01-01T00:00:00Z';
    expect(await remove()).toEqual([]);
    for (const storage of [{ retain: true }, { existingClaim: 'old' }]) {
      hubSpec = { storage };
      expect(await remove()).toEqual(left('The Hub villa is being deleted, and its volume is kept.'));
    }
    object = undefined;
    expect(await remove()).toEqual([]);
    expect(removed).toBe(0);
  });

  test('removes the object from an external hub whose Hub is being deleted, since the hub continues to run', async () => {
    deletionTimestamp = '2026-01-01T00:00:00Z';
    hubSpec = { external: { url: 'http://box.example.org', tokenSecretRef: { name: 'villa-api-token' } } };
    expect(await remove()).toEqual([]);
    expect(removed).toBe(1);
    failure = new HubUnreachable('It does not answer.');
    expect(await remove()).toEqual(left('It does not answer.'));
  });

  test('removes the object although the Hub is not Ready, since its hub may respond', async () => {
    ready = 'False';
    expect(await remove()).toEqual([]);
    expect(removed).toBe(1);
  });

  test('skips the removal without a token, and says so in an event', async () => {
    secrets.clear();
    expect(await remove()).toMatchObject([{ reason: 'CleanupSkipped' }]);
    expect(removed).toBe(0);
  });
});
