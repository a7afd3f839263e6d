import { HubUnreachable } from '../../../operator/client/connection/errors';
import { HubPresence } from '../../../operator/client/hub-presence';
import { automation, hub as hubDefinition, type HubStatus } from '../../../operator/kinds';
import type { KindDefinition } from '../../../operator/kinds/kind';
import type { CustomResource } from '../../../operator/kinds/resource';
import { Metrics } from '../../../operator/process/metrics';
import { ObjectOwnership } from '../../../operator/runtime/object-ownership';
import { Controller } from '../../../operator/runtime/controller';
import { EventWriter } from '../../../operator/runtime/event-writer';
import { EventRecorder } from '../../../operator/runtime/events';
import { Finalizer } from '../../../operator/runtime/finalizer';
import { objectKey } from '../../../operator/runtime/object-key';
import type { ClusterObject, ResourceType } from '../../../operator/runtime/objects';
import { ready } from '../../../operator/runtime/outcome';
import { Reconciler } from '../../../operator/runtime/reconciler';
import { Store } from '../../../operator/runtime/store';
import type { Child } from '../../../operator/sync/objects/child';
import { childModule } from '../../../operator/sync/objects/child-module';
import { HubClients } from '../../../operator/sync/hub-connection/hub-clients';
import { ManualClock } from '../manual-clock';
import { resource } from '../resource';
import { FakeApiClient } from '../runtime/fake-api-client';
import { RecordingLog } from '../runtime/recording-log';
import { services } from './fixtures';

const CHILDREN = 500;
const type: ResourceType = { group: 'example.org', version: 'v1', plural: 'x', kind: 'HubAutomation' };

beforeEach(() => void jest.spyOn(HubPresence.prototype, 'isRunning').mockResolvedValue(true));
afterEach(() => jest.restoreAllMocks());

/** A Hub with children whose objects in the hub are as desired. All writes are caused by the Hub's status. */
function setup() {
  const clock = new ManualClock();
  const log = new RecordingLog();
  const metrics = new Metrics('test');
  const store = new Store<CustomResource>();
  let version = 1;
  const cluster = new FakeApiClient(clock, ({ body, path }) => {
    if (path.includes('/events')) return body;
    const { metadata, status } = body as CustomResource;
    const present = store.get(objectKey('HubAutomation', 'home', metadata.name))!;
    return { ...present, metadata: { ...present.metadata, resourceVersion: String(++version) }, status };
  });
  const woken: string[] = [];
  const hub = { answers: true };
  const given = services({
    cache: {
      get: <T extends ClusterObject>(kind: string, namespace: string, name: string) =>
        (kind === 'Secret' ? { metadata: { name } } : store.get(objectKey(kind, namespace, name))) as
          T | undefined,
    },
    clock,
    cluster,
    log,
    requeue: (kind: string) => void woken.push(kind),
    secrets: { get: () => Promise.resolve(new Map([['token', 'the-token']])) },
  });
  const hubs = new HubClients(given);
  const module = childModule<Child>(given, hubs, {
    sync: () =>
      hub.answers
        ? Promise.resolve(ready('AutomationGenerated', 'In use.'))
        : Promise.reject(new HubUnreachable('connection refused')),
    remove: () => Promise.resolve([]),
    objectOf: () => undefined,
    forget: () => undefined,
  });
  const see = (object: CustomResource): CustomResource => {
    const definition = (object.kind === 'Hub' ? hubDefinition : automation) as KindDefinition;
    for (const change of store.put(object)) controller.onResource(definition, change);
    return store.get(objectKey(object.kind, 'home', object.metadata.name))!;
  };
  const events = new EventRecorder(new EventWriter(cluster, clock, 'operator-0'), clock, log);
  const reconciler = new Reconciler<CustomResource>({
    type,
    cluster,
    clock,
    log,
    events,
    finalizer: new Finalizer(cluster, type, 'example.org/test'),
    module: { sync: (child, context) => module.sync(child as Child, context) },
    read: (key) => store.get(key),
    conflictingOwner: () => undefined,
    othersWithIdentity: () => [],
    duplicateMessage: () => '',
    recordWrite: see,
    recordRead: see,
    annotations: { reconcileRequestedAt: 'at', dryRun: 'dry' },
    leaderSignal: new AbortController().signal,
    isBusy: () => false,
  });
  const reconcileHub = { reconcile: () => Promise.resolve({ type: 'resync' }), oldestAbandoned: () => 0 };
  const controller: Controller = new Controller({
    clock,
    metrics,
    kinds: new Map([
      ['Hub', { definition: hubDefinition, reconciler: reconcileHub as never }],
      ['HubAutomation', { definition: automation, reconciler }],
    ]),
    read: (key) => store.get(key),
    waitForNamespace: () => undefined,
    workers: 16,
    workersPerHub: 4,
    ownership: new ObjectOwnership('example.org'),
  });
  controller.queue.start();

  return {
    clock,
    hub,
    hubs,
    /** Kinds of the resources that children have enqueued. */
    woken,
    /** Requeues the children, as the end of the WebSocket does. */
    touchChildren(): void {
      for (let child = 0; child < CHILDREN; child++) controller.requeue('HubAutomation', 'home', `a${child}`);
    },
    seeHub(status: HubStatus): void {
      const resourceVersion = String(++version);
      see({ ...resource('villa', {}, { resourceVersion, status }), kind: 'Hub' });
    },
    seeChildren(): void {
      for (let child = 0; child < CHILDREN; child++) {
        const spec = { hubRef: { name: 'villa' }, alias: `Automation ${child}`, suspend: false };
        const metadata = { resourceVersion: String(++version) };
        see({ ...resource(`a${child}`, spec, metadata), kind: 'HubAutomation' });
      }
    },
    /** Returns how often children were reconciled so far. */
    async reconciles(): Promise<number> {
      const metric = await metrics.registry.getSingleMetric('controller_runtime_reconcile_total')!.get();
      const children = metric.values.filter(({ labels }) => labels['controller'] === 'HubAutomation');
      return children.reduce((sum, { value }) => sum + value, 0);
    },
    /** Returns the writes since the last call. */
    writes(): { readonly status: number; readonly events: number } {
      const writes = cluster.requests.splice(0);
      const status = writes.filter(({ path }) => path.endsWith('/status')).length;
      return { status, events: writes.length - status };
    },
  };
}

const hubStatus = (phase: HubStatus['phase'], message: string, more: Partial<HubStatus> = {}): HubStatus => ({
  phase: phase!,
  url: 'http://127.0.0.1:9',
  version: '2026.11.0',
  conditions: [
    {
      type: 'Ready',
      status: phase === 'Running' ? 'True' : 'False',
      reason: phase === 'Running' ? 'HubRunning' : 'PodNotReady',
      message,
      observedGeneration: 1,
      lastTransitionTime: '2026-01-01T00:00:00Z',
    },
  ],
  ...more,
});

/** A hub that runs, and children whose first status is written. */
async function childrenWithStatus() {
  const all = setup();
  all.seeHub(hubStatus('Running', 'Home Assistant 2026.11.0 is running.'));
  all.seeChildren();
  await all.clock.advance(1_000);
  all.writes();
  return all;
}

describe('the restart of a hub with 500 children', () => {
  test('costs at most two status writes per child and no event of a child', async () => {
    const { clock, hubs, reconciles, seeChildren, seeHub, writes } = setup();
    seeHub(hubStatus('Running', 'Home Assistant 2026.11.0 is running.'));
    seeChildren();
    await clock.advance(1_000);
    expect(writes()).toEqual({ status: CHILDREN, events: CHILDREN });

    seeHub(hubStatus('Unknown', 'The hub does not answer.'));
    await clock.advance(5_000);
    for (const message of [
      'Pod villa-0 is being replaced.',
      'Pulling image.',
      'Startup probe failed.',
      'Loading.',
    ]) {
      seeHub(hubStatus('Pending', message, { bootstrap: { state: 'WaitForHealth', message } }));
      await clock.advance(20_000);
    }
    seeHub(hubStatus('Running', 'Home Assistant 2026.11.0 is running.'));
    await clock.advance(60_000);
    expect(writes()).toEqual({ status: 2 * CHILDREN, events: 0 });
    expect(await reconciles()).toBe(3 * CHILDREN);
    hubs.close();
  });

  test('costs no more when all children lose the connection before the Hub reports it', async () => {
    const { clock, hub, hubs, seeHub, touchChildren, woken, writes } = await childrenWithStatus();
    hub.answers = false;
    touchChildren();
    await clock.advance(1_000);
    expect(writes()).toEqual({ status: 0, events: 0 });
    expect(woken).toEqual(['Hub']);
    await clock.advance(25_000); // the Hub notices later
    seeHub(hubStatus('Pending', 'Pod villa-0 is being replaced.'));
    await clock.advance(20_000);
    hub.answers = true;
    seeHub(hubStatus('Running', 'Home Assistant 2026.11.0 is running.'));
    await clock.advance(60_000);
    expect(writes()).toEqual({ status: 2 * CHILDREN, events: 0 });
    hubs.close();
  });
});

describe('children that do not reach a hub that their Hub does', () => {
  test('report it after 30 s, and not at all when the hub answers before', async () => {
    const { clock, hub, hubs, touchChildren, writes } = await childrenWithStatus();
    hub.answers = false;
    touchChildren();
    await clock.advance(25_000);
    hub.answers = true;
    await clock.advance(60_000);
    expect(writes()).toEqual({ status: 0, events: 0 });

    hub.answers = false;
    touchChildren();
    await clock.advance(29_000);
    expect(writes()).toEqual({ status: 0, events: 0 });
    await clock.advance(2_000);
    expect(writes().status).toBe(CHILDREN);
    hubs.close();
  });
});
