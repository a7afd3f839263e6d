import type { RemovalOptions } from '../../../../operator/client/config-entities/entity-removal';
import type { LabelledEntity } from '../../../../operator/client/registries/entity-registry';
import { HubUnreachable } from '../../../../operator/client/connection/errors';
import type { HubClient } from '../../../../operator/client/hub-client';
import { userAnnotations } from '../../../../operator/kinds/annotations';
import type { Child } from '../../../../operator/sync/objects/child';
import { automations } from '../../../../operator/sync/config-entities/automation';
import type { ConfigEntitySpec, EntityType } from '../../../../operator/sync/config-entities/entity-type';
import { LeftBehind } from '../../../../operator/sync/config-entities/left-behind';
import { scripts } from '../../../../operator/sync/config-entities/script';
import { ManualClock, settle } from '../../manual-clock';
import { aHub, services } from '../fixtures';
import { hubClient } from '../../stand-in-hub/hub-client';

let clock: ManualClock;
let entities: LabelledEntity[];
let resources: Child[];
/** Number of resources that were read. */
let lookedAt: number;
let hasLabel: boolean;
let removed: string[];
/** Entities that were looked up to remove their label. */
let looked: string[];
let removalError: Error | undefined;
let requeued: string[];
let reconnect: () => void;
let leftBehind: LeftBehind;
let client: HubClient;

const entity = (kind: 'automation' | 'script', id: string, labels = ['managed']): LabelledEntity => ({
  kind,
  id,
  entityId: `${kind}.${id}`,
  labels,
});
const automation = (name: string, spec: object = {}, status: object = {}) =>
  ({ kind: 'HubAutomation', metadata: { name }, spec, status }) as unknown as Child;
const annotated = (value: string) =>
  aHub({ metadata: { annotations: { [userAnnotations.removeLeftBehind]: value } } });

beforeEach(() => {
  clock = new ManualClock();
  entities = [];
  resources = [];
  lookedAt = 0;
  hasLabel = true;
  [removed, looked] = [[], []];
  removalError = undefined;
  requeued = [];
  const given = services({
    clock,
    cache: {
      *ofHub(kind: string) {
        for (const each of resources.filter((one) => one.kind === kind)) {
          lookedAt += 1;
          yield each as never;
        }
      },
    },
    requeue: (...key) => void requeued.push(key.join('/')),
  });
  const types = [automations, scripts] as unknown as EntityType<Child, ConfigEntitySpec>[];
  const contexts = { ofHub: () => ({ places: client.removal }) } as never;
  leftBehind = new LeftBehind(given, contexts, types);
  client = hubClient({
    connection: { onReconnect: (listener: () => void) => (reconnect = listener) },
    labels: {
      find: async (name: string) =>
        hasLabel ? (name.startsWith('Managed') ? 'managed' : 'adopted') : undefined,
    },
    entityRegistry: {
      withLabel: async (id: string) => entities.filter(({ labels }) => labels.includes(id)),
      findToRemove: async (kind: string, id: string) => void looked.push(`${kind} ${id}`),
    },
    removal: {
      remove: async (kind: string, id: string, { shouldRemove, prepare }: RemovalOptions) => {
        if (removalError) throw removalError;
        if (!shouldRemove()) return;
        await prepare?.();
        removed.push(`${kind} ${id}`);
        entities = entities.filter((each) => each.id !== id);
      },
    },
  });
});

/** Reports after the time in which resources may follow their Hub. */
async function report(hub = aHub()) {
  await leftBehind.report(hub, client);
  await clock.advance(60_000);
  return leftBehind.report(hub, client);
}

describe('LeftBehind', () => {
  test('names objects with our label that no resource describes, once per connection in an event', async () => {
    entities = [entity('automation', 'porch'), entity('script', 'night')];
    const first = await report();
    expect(first.notice).toMatch(/^The hub has objects .* describes: automation\.porch, script\.night\. /);
    expect(first.events).toMatchObject([{ type: 'Warning', reason: 'LeftBehind', message: first.notice }]);
    expect(await leftBehind.report(aHub(), client)).toEqual({ notice: first.notice, events: [] });
    reconnect();
    expect((await leftBehind.report(aHub(), client)).events).toHaveLength(1);
    expect(removed).toEqual([]);
  });

  test('waits a minute for resources that are applied with their Hub', async () => {
    entities = [entity('automation', 'porch')];
    expect(await leftBehind.report(aHub(), client)).toEqual({ events: [], after: 60_000 });
    await clock.advance(59_000);
    expect(await leftBehind.report(aHub(), client)).toEqual({ events: [], after: 1_000 });
  });

  test.each([
    ['by its id in status', automation('a', {}, { automationId: 'porch' })],
    ['under a former id', automation('a', {}, { automationId: 'x', formerIds: ['porch'] })],
    ['by its spec, before it was reconciled', automation('a', { id: 'porch' })],
  ])('leaves out an object that a resource describes %s', async (_, resource) => {
    entities = [entity('automation', 'porch')];
    resources = [resource];
    expect(await report()).toEqual({ events: [] });
  });

  test('leaves out objects that a user made, and a hub without the label', async () => {
    entities = [
      entity('automation', 'porch', ['managed', 'adopted']),
      entity('script', 'night', ['kitchen']),
    ];
    expect(await report()).toEqual({ events: [] });
    entities = [entity('automation', 'porch')];
    hasLabel = false;
    expect(await report()).toEqual({ events: [] });
  });

  test('reads each resource once, however many objects there are', async () => {
    const names = Array.from({ length: 100 }, (_, index) => `n-${index}`);
    entities = names.map((name) => entity('automation', name));
    resources = names.map((name) => automation(name));
    await report();
    expect(lookedAt).toBe(100);
  });

  test('names ten of many', async () => {
    entities = Array.from({ length: 12 }, (_, index) => entity('automation', `a${10 + index}`));
    expect((await report()).notice).toContain('automation.a19 and 2 more. ');
  });

  test('removes exactly the objects that the annotation lists, then requeues the Hub', async () => {
    entities = [entity('automation', 'porch'), entity('automation', 'attic'), entity('script', 'night')];
    resources = [automation('kept', { id: 'attic' })];
    await report(annotated('automation.porch, automation.attic,light.sofa'));
    await settle();
    expect(removed).toEqual(['automation porch']);
    expect(requeued).toEqual(['Hub/home/villa']);
    expect((await leftBehind.report(aHub(), client)).notice).toMatch(/describes: script\.night\. /);
  });

  test('removes no object that a resource describes by the time of the removal', async () => {
    entities = [entity('automation', 'porch'), entity('automation', 'attic')];
    const { remove } = client.removal;
    client.removal.remove = async (...given) => {
      resources = [automation('attic')];
      await remove.apply(client.removal, given);
    };
    await report(annotated('automation.porch automation.attic'));
    await settle();
    expect([removed, looked]).toEqual([['automation porch'], ['automation porch']]);
  });

  test('reports in one event that a removal failed, and retries it after five minutes', async () => {
    entities = [entity('automation', 'porch')];
    removalError = new HubUnreachable('no answer');
    const hub = annotated('automation.porch');
    await report(hub);
    await settle();
    expect((await leftBehind.report(hub, client)).events).toMatchObject([
      { reason: 'CleanupFailed', message: expect.stringContaining('no answer') },
    ]);
    expect((await leftBehind.report(hub, client)).events).toEqual([]);
    expect(looked).toEqual([]); // without its label it would not be found again
    removalError = undefined;
    await clock.advance(299_000);
    await leftBehind.report(hub, client);
    expect(removed).toEqual([]);
    await clock.advance(1_000);
    await leftBehind.report(hub, client);
    await settle();
    expect(removed).toEqual(['automation porch']);
  });
});
