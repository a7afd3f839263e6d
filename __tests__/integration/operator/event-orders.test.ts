import { setTimeout as sleep } from 'node:timers/promises';
import { freshNamespace } from '../../cluster';
import { ApiProxy } from '../../cluster/api-proxy';
import { area, automation, entity, Home, label, type Manifest } from '../../cluster/home';
import { HubRecorder } from '../../cluster/hub-recorder';
import { HubToExport } from '../../cluster/hub-to-export';
import { startTestOperator } from '../../cluster/operator';
import { shuffled } from '../../cluster/shuffled';
import { seed } from '../../seed';

// The events of a small home reach the operator in every order of their kinds. Each watch has its own
// connection, so the API server guarantees no order between watches.

const HUB = 'villa';
/** Time in which the operator handles the events of one kind, in milliseconds. */
const HANDLING = 50;
const KINDS = ['hublabels', 'hubareas', 'hubentities', 'hubautomations'];

let home: Home;
let proxy: ApiProxy;
let villa: HubToExport;

beforeAll(async () => {
  home = new Home(await freshNamespace('event-orders'));
  proxy = await ApiProxy.start(() => Promise.resolve('on'));
  await startTestOperator(home.namespace, {
    kubeconfig: proxy.kubeconfig,
    settings: { ALLOW_LOCAL_HUBS: 'true' },
  });
  villa = await HubToExport.start({}, '\nkitchen_sink:\n');
});
afterAll(async () => {
  proxy?.stop();
  await villa?.dispose();
});

function orders<T>(items: readonly T[]): (readonly T[])[] {
  if (items.length < 2) return [items];
  return items.flatMap((first) =>
    orders(items.filter((each) => each !== first)).map((rest) => [first, ...rest]),
  );
}

const resources = (index: number): readonly Manifest[] => [
  label(HUB, `l${index}`, { name: `Label ${index}` }),
  area(HUB, `a${index}`, { name: `Area ${index}`, labels: [`Label ${index}`] }),
  entity(HUB, `e${index}`, {
    select: { entityId: MOWERS[index % MOWERS.length]! },
    name: `Mower ${index}`,
    areaName: `Area ${index}`,
    labels: [`Label ${index}`],
  }),
  automation(HUB, `w${index}`),
];

const MOWERS = ['lawn_mower.mower_can_mow', 'lawn_mower.mower_can_dock', 'lawn_mower.mower_can_pause'];

/**
 * Delivers the events by kind. The operator has handled those of one kind before those of the next kind
 * arrive.
 */
async function deliver(order: readonly string[]): Promise<void> {
  for (const kind of order) {
    proxy.watches.deliver(kind);
    await sleep(HANDLING);
  }
  proxy.watches.deliverAll();
}

test(`a small home is Ready, written once and removed for each order of its events (SEED=${seed})`, async () => {
  const recorder = await HubRecorder.start(villa.process.url);
  try {
    await villa.join(home, recorder.url);
    for (const [index, order] of shuffled(orders(KINDS)).order.entries()) {
      const manifests = resources(index);
      recorder.sent.length = 0;
      proxy.watches.keep();
      await home.apply(...manifests);
      await sleep(HANDLING);
      expect(recorder.changes()).toEqual([]);
      await deliver(order);
      for (const { kind, metadata } of manifests) await home.ready(kind.toLowerCase(), metadata.name);
      const sent = recorder.changes().map((what) => what.replace(/\/w\d+$/, ''));
      expect({ order, sent: sent.sort() }).toEqual({ order, sent: CHANGES });
      proxy.watches.keep();
      for (const { kind, metadata } of manifests)
        await home.delete(kind.toLowerCase(), metadata.name, { wait: false });
      await deliver(order);
      for (const { kind } of manifests) await home.gone(kind.toLowerCase());
    }
  } finally {
    await recorder.stop();
  }
});

const CHANGES = [
  'POST /api/config/automation/config',
  'POST /api/services/automation/reload',
  'command config/area_registry/create',
  'command config/entity_registry/update',
  'command config/label_registry/create',
];
