import type { HubClient } from '../../../../operator/client/hub-client';
import { HubRejected, NotFound } from '../../../../operator/client/connection/errors';
import type { EntityRecord } from '../../../../operator/client/registries/entity-settings';
import type { Settings } from '../../../../operator/client/registries/settings';
import { GROUP_VERSION } from '../../../../operator/kinds/group';
import type { Outcome } from '../../../../operator/runtime/outcome';
import { removeObject } from '../../../../operator/sync/objects/removal';
import type { Borrower } from '../../../../operator/sync/registry/borrowed/borrowed-type';
import { entities } from '../../../../operator/sync/registry/borrowed/entities';
import { BorrowedSync } from '../../../../operator/sync/registry/borrowed/sync';
import { EntryContexts } from '../../../../operator/sync/registry/entry-contexts';
import type { Services } from '../../../../operator/sync/services';
import { silentLog } from '../../../cluster/silent-log';
import { ManualClock } from '../../manual-clock';
import { objectMetadata } from '../../object-metadata';
import { aHub, services } from '../fixtures';
import { hubClient } from '../../stand-in-hub/hub-client';

let clock: ManualClock;
let resources: Borrower[];
let records: EntityRecord[];
let writes: Settings[];
let requeued: string[];
let reject: HubRejected | undefined;
let volume: string;
let version: string | undefined;
let states: Set<string>;
let asked: string[];
let supportsUnload: boolean | undefined;
let client: HubClient;
let given: Services;
let sync: BorrowedSync<EntityRecord>;

const aRecord = (settings: Settings = {}, fields: Partial<EntityRecord> = {}): EntityRecord => ({
  id: 'r1',
  entityId: 'light.a',
  integration: 'demo',
  uniqueId: 'u1',
  deviceId: 'd1',
  configEntryId: 'e1',
  translationKey: null,
  originalName: 'Lamp',
  originalDeviceClass: null,
  hasOwnAlias: true,
  options: {},
  disabledBy: null,
  settings: {
    name: null,
    icon: null,
    areaName: null,
    labels: [],
    aliases: [],
    hidden: false,
    disabled: false,
    deviceClass: null,
    entityId: 'light.a',
    ...settings,
  },
  ...fields,
});

function aResource(name: string, spec: object, fields: Partial<Borrower['metadata']> = {}): Borrower {
  return {
    apiVersion: GROUP_VERSION,
    kind: 'HubEntity',
    metadata: { ...objectMetadata, name, namespace: 'home', uid: `uid-of-${name}`, generation: 1, ...fields },
    spec: { hubRef: { name: 'villa' }, select: { entityId: 'light.a' }, ...spec },
  };
}

beforeEach(() => {
  clock = new ManualClock();
  resources = [];
  records = [aRecord()];
  writes = [];
  requeued = [];
  reject = undefined;
  volume = 'v1';
  version = '2026.11.0';
  states = new Set();
  asked = [];
  supportsUnload = true;
  client = hubClient({
    components: { isLoaded: async () => true },
    connection: { command: async () => ({ state: 'RUNNING', recovery_mode: false }) },
    rest: {
      redact: (text: string) => text,
      get: async (path: string) => {
        asked.push(path);
        if (!states.has(path)) throw new NotFound('404', 'Entity not found');
        return { state: 'on' };
      },
    },
    entityRegistry: { onChange: () => undefined, onAppearance: () => undefined },
    users: { onChange: () => undefined },
    configEntries: { all: async () => new Map([['e1', { supports_unload: supportsUnload }]]) },
    registries: Object.fromEntries(
      ['floor', 'label', 'area', 'zone'].map((type) => [
        type,
        {
          onChange: () => undefined,
          invalidate: () => undefined,
          entries: async () => new Map([['kitchen', { name: 'Kitchen' }]]),
        },
      ]),
    ),
    settings: Object.fromEntries(
      ['entity', 'device'].map((type) => [
        type,
        {
          onChange: () => undefined,
          invalidate: () => undefined,
          entries: async () => ({
            get: (id: string) => records.find((each) => each.id === id),
            all: records,
          }),
          update: async (record: EntityRecord, changes: Settings) => {
            writes.push(changes);
            if (reject) throw reject;
            const updated = { ...record, settings: { ...record.settings, ...changes } };
            records = records.map((each) => (each.id === record.id ? updated : each));
            return updated;
          },
        },
      ]),
    ),
  });
  given = services({
    clock,
    metrics: { countDrift: () => undefined },
    requeue: (...key) => void requeued.push(key.slice(0, 3).join(' ')),
    cache: {
      get: () => aHub({ status: { volumeID: volume, ...(version !== undefined && { version }) } }) as never,
      ofHub: <T>(kind: string) => resources.filter((each) => each.kind === kind) as never as Generator<T>,
      ofHubByStatus: (kind: string, _: string, __: string, field: string, id: string) =>
        resources.filter((each) => each.kind === kind && each.status?.[field] === id) as never,
    },
  });
  sync = new BorrowedSync(entities, given, new EntryContexts(given, [entities]));
});

const context = { signal: new AbortController().signal, log: silentLog, forced: false, dryRun: false };

async function reconcile(name: string, overrides: object = {}): Promise<Outcome> {
  const index = resources.findIndex(({ metadata }) => metadata.name === name);
  const resource = resources[index]!;
  const outcome = await sync.sync(resource, client, { ...context, ...overrides });
  const { reason, message } = outcome;
  const ready = { type: 'Ready', status: outcome.type === 'Ready' ? 'True' : 'False', reason, message };
  const status = { ...resource.status, ...outcome.status, conditions: [{ ...ready, observedGeneration: 1 }] };
  const present = Object.entries(status).filter(([, value]) => value !== null && value !== undefined);
  resources[index] = { ...resource, status: Object.fromEntries(present) };
  return outcome;
}

/** Reconciles until no work is in progress. */
async function settle(name: string): Promise<Outcome> {
  for (;;) {
    const outcome = await reconcile(name);
    if (outcome.type !== 'Waiting' || outcome.after > 0) return outcome;
  }
}

const statusOf = (name: string) => resources.find(({ metadata }) => metadata.name === name)!.status!;
const remove = (name: string) =>
  removeObject(
    given,
    sync,
    resources.find(({ metadata }) => metadata.name === name)!,
    client,
    context,
  );

/** Changes the spec of a resource. */
async function edit(name: string, spec: object): Promise<void> {
  resources = resources.map((each) =>
    each.metadata.name === name ? { ...each, spec: { ...each.spec, ...spec } } : each,
  );
  await clock.advance(60_000);
}

describe('BorrowedSync', () => {
  test('the former value is in status before the first write', async () => {
    records = [aRecord({ name: 'Old' })];
    resources = [aResource('a', { name: 'New' })];
    expect(await reconcile('a')).toMatchObject({ type: 'Waiting', after: 0 });
    expect(writes).toEqual([]);
    expect(statusOf('a')).toMatchObject({
      registryId: 'r1',
      previous: { name: { was: 'Old', ours: ['New'] } },
    });
    expect(await reconcile('a')).toMatchObject({ type: 'Ready', reason: 'EntityUpdated' });
    expect(writes).toEqual([{ name: 'New' }]);
    expect(await reconcile('a')).toMatchObject({ type: 'Ready' });
    expect(writes).toHaveLength(1);
  });

  test('equal values are recorded with one write of status, and stay at the deletion', async () => {
    records = [aRecord({ name: 'New', labels: ['kitchen'] })];
    resources = [aResource('a', { name: 'New', labels: ['Kitchen'] })];
    expect(await reconcile('a')).toMatchObject({ type: 'Ready' });
    expect(await remove('a')).toEqual([]);
    expect(writes).toEqual([]);
  });

  test('name and area are sent in one command, and are restored in one', async () => {
    records = [aRecord({}, { originalName: null })];
    resources = [aResource('a', { name: 'New', areaName: 'Kitchen' })];
    await settle('a');
    await remove('a');
    expect(writes).toEqual([
      { name: 'New', areaName: 'kitchen' },
      { name: null, areaName: null },
    ]);
  });

  test('an area without an own name is not sent to a hub that refuses it, and is sent to an older one', async () => {
    records = [aRecord({}, { originalName: null })];
    resources = [aResource('a', { areaName: 'Kitchen' })];
    expect(await settle('a')).toMatchObject({ type: 'Stalled', reason: 'AreaBelongsToDevice' });
    expect(writes).toEqual([]);
    version = '2026.5.0';
    expect(await settle('a')).toMatchObject({ type: 'Ready' });
  });

  test('values that the hub refuses are not sent again until something changes', async () => {
    reject = new HubRejected('invalid_info', 'An entity without a name of its own cannot have an area');
    version = undefined;
    records = [aRecord({}, { originalName: null })];
    resources = [aResource('a', { areaName: 'Kitchen' })];
    expect(await settle('a')).toMatchObject({ type: 'Stalled', reason: 'AreaBelongsToDevice' });
    await clock.advance(60_000);
    expect(await settle('a')).toMatchObject({ type: 'Stalled', reason: 'AreaBelongsToDevice' });
    expect(writes).toHaveLength(1);
    reject = undefined;
    await edit('a', { name: 'New' });
    expect(await settle('a')).toMatchObject({ type: 'Ready' });
  });

  test('a name that cannot be restored beside the area of a user stays, with an event', async () => {
    records = [aRecord({}, { originalName: null })];
    resources = [aResource('a', { name: 'New' })];
    await settle('a');
    records = records.map((each) => ({ ...each, settings: { ...each.settings, areaName: 'kitchen' } }));
    const events = (await remove('a')) as readonly { reason: string; message: string }[];
    expect(events).toEqual([expect.objectContaining({ reason: 'CleanupSkipped' })]);
    expect(events[0]!.message).toMatch(/^The setting name of light.a stays in the hub: .*[^.]\.$/);
    expect(writes).toEqual([{ name: 'New' }]);
  });

  test.each([
    ['device', 'DisabledByDevice'],
    ['config_entry', 'DisabledByEntry'],
  ])('an entity that is disabled by its %s is not enabled: %s', async (disabledBy, reason) => {
    records = [aRecord({ disabled: true }, { disabledBy })];
    resources = [aResource('a', { disabled: false })];
    expect(await settle('a')).toMatchObject({ type: 'Stalled', reason });
    expect(writes).toEqual([]);
  });

  test('an id that is taken, and one of another domain, are not sent', async () => {
    records = [aRecord(), aRecord({ entityId: 'light.b' }, { id: 'r2', entityId: 'light.b' })];
    const select = { unique: { integration: 'demo', domain: 'light', uniqueId: 'u1' } };
    records[1] = { ...records[1]!, uniqueId: 'u2' };
    resources = [aResource('a', { select, entityId: 'light.b' })];
    expect(await settle('a')).toMatchObject({ type: 'Stalled', reason: 'NameConflict' });
    await edit('a', { entityId: 'switch.b' });
    expect(await settle('a')).toMatchObject({ type: 'Stalled', reason: 'InvalidSpec' });
    expect(writes).toEqual([]);
  });

  test('on another volume the record is dropped, and nothing of it is restored', async () => {
    records = [aRecord({ name: 'Old' })];
    resources = [aResource('a', { name: 'New' })];
    await settle('a');
    volume = 'v2';
    records = [aRecord({ name: 'Other' }, { id: 'r9' })];
    await clock.advance(60_000);
    expect(await settle('a')).toMatchObject({ type: 'Ready' });
    expect(statusOf('a')).toMatchObject({
      registryId: 'r9',
      volumeID: 'v2',
      previous: { name: { was: 'Other', ours: ['New'] } },
    });
    volume = 'v3';
    await remove('a');
    expect(writes).toEqual([{ name: 'New' }, { name: 'New' }]);
  });

  test('another entry with the same selector has a record of its own', async () => {
    records = [aRecord({ name: 'Old' })];
    resources = [aResource('a', { name: 'New' })];
    await settle('a');
    records = [aRecord({ name: 'Fresh' }, { id: 'r2' })];
    await clock.advance(60_000);
    await settle('a');
    expect(statusOf('a')).toMatchObject({ registryId: 'r2', previous: { name: { was: 'Fresh' } } });
  });

  test('of two that have recorded one entry the older one keeps it, and the younger restores only its own values', async () => {
    records = [aRecord({ name: 'Old' })];
    resources = [
      aResource('young', { name: 'New', icon: 'mdi:a' }, { creationTimestamp: '2026-11-28T10:00:01Z' }),
      aResource('old', { name: 'New' }, { creationTimestamp: '2026-11-28T10:00:00Z' }),
    ];
    await reconcile('young');
    const recorded = { registryId: 'r1', previous: { name: { was: 'Old', ours: ['New'] } } };
    await settle('young');
    resources = resources.map((each) =>
      each.metadata.name === 'old' ? { ...each, status: recorded } : each,
    );
    expect(await settle('old')).toMatchObject({ type: 'Ready' });
    expect(requeued).toEqual(['HubEntity home young']);
    await clock.advance(60_000);
    expect(await reconcile('young')).toMatchObject({ type: 'Waiting', reason: 'DuplicateId' });
    await settle('old');
    expect(requeued).toHaveLength(1);
    expect(await remove('young')).toEqual([]);
    expect(writes).toEqual([{ name: 'New', icon: 'mdi:a' }, { icon: null }]);
  });

  test('more values than can be recorded are refused before anything is written', async () => {
    const aliases = Array.from({ length: 64 }, (_, index) => `${'x'.repeat(200)}${index}`);
    resources = [aResource('a', { aliases })];
    expect(await settle('a')).toMatchObject({ type: 'Stalled', reason: 'InvalidSpec' });
    expect(writes).toEqual([]);
  });

  test('more values than can be recorded are refused even if the hub has all of them, and their removal is not', async () => {
    const aliases = Array.from({ length: 20 }, (_, index) => `${'ü'.repeat(60)}${index}`);
    records = [aRecord({ aliases })];
    resources = [aResource('a', { aliases })];
    expect(await settle('a')).toMatchObject({ type: 'Stalled', reason: 'InvalidSpec' });
    expect(statusOf('a')).not.toHaveProperty('previous');
    await edit('a', { aliases: undefined });
    expect(await settle('a')).toMatchObject({ type: 'Ready' });
  });

  test('a list of the largest size is replaced by another one', async () => {
    const list = (letter: string) =>
      Array.from({ length: 20 }, (_, index) => `${letter.repeat(180)}${index}`);
    resources = [aResource('a', { aliases: list('x') })];
    expect(await settle('a')).toMatchObject({ type: 'Ready' });
    await edit('a', { aliases: list('y') });
    expect(await settle('a')).toMatchObject({ type: 'Ready' });
    expect(records[0]!.settings['aliases']).toEqual(list('y'));
    await edit('a', { aliases: undefined });
    expect(await settle('a')).toMatchObject({ type: 'Ready' });
    expect(records[0]!.settings['aliases']).toEqual([]);
  });

  test('an entity that was created again gets its settings, also with driftPolicy Warn', async () => {
    resources = [aResource('a', { name: 'New', driftPolicy: 'Warn' })];
    await settle('a');
    records = [aRecord({}, { id: 'r2' })];
    await clock.advance(60_000);
    expect(await settle('a')).toMatchObject({ type: 'Ready' });
    expect(writes).toEqual([{ name: 'New' }, { name: 'New' }]);
  });

  test('a refusal for the former id of the entity does not apply to the current one', async () => {
    reject = new NotFound('not_found', 'Entity not found');
    resources = [aResource('a', { name: 'New' })];
    expect(await settle('a')).toMatchObject({ type: 'Stalled', reason: 'RejectedByHub' });
    reject = undefined;
    records = [aRecord({ entityId: 'light.b' }, { entityId: 'light.b' })];
    await clock.advance(60_000);
    expect(await settle('a')).toMatchObject({ type: 'Ready' });
  });

  test.each([
    ['there', 'kitchen', 'kitchen'],
    ['gone', 'attic', null],
  ])('a former area that is %s', async (_, former, after) => {
    client.registries.area.entries = async () => new Map(['kitchen', 'hall'].map((id) => [id, { name: id }]));
    records = [aRecord({ areaName: former })];
    resources = [aResource('a', { areaName: 'Hall' }), aResource('b', {})];
    await settle('a');
    await edit('a', { areaName: undefined });
    await settle('a');
    expect(records[0]!.settings['areaName']).toBe(after);
    await edit('a', { areaName: 'Hall' });
    records = [aRecord({ areaName: former })];
    await settle('a');
    await remove('a');
    expect(records[0]!.settings['areaName']).toBe(after);
  });

  test('a removal ends also where the former area is an empty text', async () => {
    client.registries.area.entries = async () =>
      new Map(['kitchen', ''].map((id) => [id, { name: id || 'None' }]));
    version = '2026.5.0';
    records = [aRecord({ areaName: '' }, { originalName: null })];
    resources = [aResource('a', { areaName: 'Kitchen' })];
    await settle('a');
    version = '2026.11.0';
    expect(await remove('a')).toEqual([expect.objectContaining({ reason: 'CleanupSkipped' })]);
  });

  test('former settings that the hub refuses at the removal are named', async () => {
    records = [aRecord({ name: 'Old' })];
    resources = [aResource('a', { name: 'New' })];
    await settle('a');
    reject = new HubRejected('invalid_info', 'No.');
    const [event] = (await remove('a')) as readonly { reason: string; message: string }[];
    expect(event).toMatchObject({
      reason: 'CleanupSkipped',
      message:
        'The entity light.a with the settings of this resource (before: name: "Old") stays in the hub: the hub says “No”.',
    });
    reject = new NotFound('not_found', 'Entity not found');
    expect(await remove('a')).toEqual([]);
  });

  describe('categories', () => {
    let names: Map<string, string>;
    let made: string[];

    beforeEach(() => {
      names = new Map([['c1', 'Light']]);
      made = [];
      const categories = {
        entries: async () => names,
        ensure: async (_: string, name: string) => {
          if (reject) throw reject;
          made.push(name);
          names = new Map([...names, [`c${names.size + 1}`, name]]);
        },
      };
      Object.assign(client, { categories });
    });

    test('are found by their names in any case', async () => {
      resources = [aResource('a', { categories: { automation: 'LIGHT' } })];
      expect(await settle('a')).toMatchObject({ type: 'Ready' });
      expect([writes, made]).toEqual([[{ 'categories.automation': 'c1' }], []]);
      expect(statusOf('a')).toMatchObject({ previous: { 'categories.automation': { ours: ['c1'] } } });
      await remove('a');
      expect(writes.at(-1)).toEqual({ 'categories.automation': null });
    });

    test('are created before their id is recorded and written, and not in a dry-run', async () => {
      resources = [aResource('a', { categories: { automation: 'Heat' } })];
      expect(await reconcile('a', { dryRun: true })).toMatchObject({ reason: 'DryRun' });
      expect(made).toEqual([]);
      expect(await reconcile('a')).toMatchObject({ type: 'Waiting', after: 2_000 });
      expect([made, writes]).toEqual([['Heat'], []]);
      expect(statusOf('a')).not.toHaveProperty('previous');
      await clock.advance(2_000);
      expect(await settle('a')).toMatchObject({ type: 'Ready' });
      expect(statusOf('a')).toMatchObject({ previous: { 'categories.automation': { ours: ['c2'] } } });
    });

    test('the removal of one by a user is drift: with Warn it is not created again', async () => {
      resources = [aResource('a', { categories: { automation: 'Light' }, driftPolicy: 'Warn' })];
      await settle('a');
      names = new Map();
      records = [aRecord()];
      await clock.advance(60_000);
      expect(await settle('a')).toMatchObject({ type: 'Stalled', reason: 'DriftDetected' });
      expect(made).toEqual([]);
    });

    test('a name that the hub refuses is not sent again', async () => {
      reject = new HubRejected('invalid_info', 'The name is in use');
      resources = [aResource('a', { categories: { automation: 'Heat' } })];
      expect(await settle('a')).toMatchObject({ type: 'Stalled', reason: 'RejectedByHub' });
      reject = undefined;
      await clock.advance(60_000);
      expect(await settle('a')).toMatchObject({ type: 'Stalled', reason: 'RejectedByHub' });
      expect(made).toEqual([]);
    });

    test('a former one that the hub no longer has is not restored', async () => {
      names = new Map([
        ['c1', 'Light'],
        ['c2', 'Heat'],
      ]);
      records = [aRecord({ 'categories.automation': 'c2' })];
      resources = [aResource('a', { categories: { automation: 'Light' } })];
      await settle('a');
      names = new Map([['c1', 'Light']]);
      await remove('a');
      expect(writes.at(-1)).toEqual({ 'categories.automation': null });
    });
  });

  describe('an entity of a HubAutomation', () => {
    const anAutomation = (status: object) =>
      ({
        kind: 'HubAutomation',
        metadata: { ...objectMetadata, name: 'hall-off', namespace: 'home', uid: 'uid-of-automation' },
        spec: { hubRef: { name: 'villa' } },
        status,
      }) as unknown as Borrower;
    const made = (settings: Settings = {}) =>
      aRecord(settings, { entityId: 'automation.off', integration: 'automation', uniqueId: 'hall_off' });

    test('is not changed by a HubEntity, whose message names the HubAutomation', async () => {
      records = [made()];
      resources = [
        aResource('a', { select: { entityId: 'automation.off' }, icon: 'mdi:a' }),
        anAutomation({ automationId: 'hall_off' }),
      ];
      expect(await settle('a')).toMatchObject({
        type: 'Stalled',
        reason: 'DuplicateId',
        message:
          'The HubAutomation hall-off makes automation.off: set entity in the HubAutomation hall-off, and delete this resource.',
      });
      expect(writes).toEqual([]);
      resources[1] = anAutomation({ automationId: 'other' });
      expect(await settle('a')).toMatchObject({ type: 'Ready' });
    });

    test('of two helpers with one id, the one of the sort of the entity makes it', async () => {
      records = [aRecord({}, { entityId: 'timer.tea', integration: 'timer', uniqueId: 'tea' })];
      const ofSort = (type: string) =>
        ({
          ...anAutomation({ id: 'tea' }),
          kind: 'HubHelper',
          spec: { hubRef: { name: 'villa' }, type },
        }) as unknown as Borrower;
      resources = [aResource('a', { select: { entityId: 'timer.tea' }, icon: 'mdi:a' }), ofSort('counter')];
      expect(await settle('a')).toMatchObject({ type: 'Ready' });
      resources[1] = ofSort('timer');
      expect(await settle('a')).toMatchObject({ reason: 'DuplicateId' });
    });

    test('keeps the settings of the HubAutomation when the HubEntity is deleted', async () => {
      records = [made({ icon: 'mdi:old', hidden: false })];
      resources = [aResource('a', { select: { entityId: 'automation.off' }, icon: 'mdi:a', hidden: true })];
      await settle('a');
      resources.push(
        anAutomation({
          automationId: 'hall_off',
          registryId: 'r1',
          previous: { icon: { was: 'mdi:a', ours: ['mdi:a'] } },
        }),
      );
      await remove('a');
      expect(records[0]!.settings).toMatchObject({ icon: 'mdi:a', hidden: false });
    });

    test('keeps those aliases of a deleted HubEntity that the HubAutomation has too, and no others', async () => {
      records = [made({ aliases: ['Mine'] })];
      const aliases = ['Mine', 'Hall', 'Off'];
      resources = [aResource('a', { select: { entityId: 'automation.off' }, aliases })];
      await settle('a');
      const previous = { aliases: { was: ['Hall'], ours: ['Hall'] } };
      resources.push(anAutomation({ automationId: 'hall_off', registryId: 'r1', previous }));
      await remove('a');
      expect(records[0]!.settings['aliases']).toEqual(['Mine', 'Hall']);
    });
  });

  test('an entity that has the new id already, as after a restore without status, is named and not taken', async () => {
    records = [aRecord({}, { entityId: 'light.new' })];
    const spec = { select: { entityId: 'light.old' }, entityId: 'light.new', name: 'New' };
    resources = [aResource('a', spec)];
    const outcome = await reconcile('a');
    expect(outcome).toMatchObject({ reason: 'EntityNotFound' });
    expect(outcome.message).toBe(
      'Waiting for the entity: the hub has no light.old, but it has light.new, which entityId names: if that is the entity, select it by select.unique, or by its present id.',
    );
    expect(writes).toEqual([]);
    records = [aRecord({}, { entityId: 'light.other' })];
    expect((await reconcile('a')).message).toContain('the hub has none that fits spec.select');
  });

  test('a resource that waits for its entity requests its state once in 30 s', async () => {
    records = [];
    states.add('/api/states/light.a');
    resources = [aResource('a', { name: 'New' })];
    for (let event = 0; event < 10; event++) {
      const { message } = await reconcile('a');
      expect(message).toContain('light.a has no unique id');
    }
    expect(asked).toHaveLength(1);
    states.clear();
    await clock.advance(30_000);
    expect((await reconcile('a')).message).toContain('the hub has none that fits');
  });

  test.each([
    ['of an entry that is loaded again', 'e1', true, 'Ready'],
    ['of an entry of which the hub does not say that', 'e1', undefined, 'Ready'],
    ['of an entry that cannot be unloaded', 'e1', false, 'Waiting'],
    ['without an entry', null, true, 'Waiting'],
  ])('an entity that is enabled, %s', async (_, configEntryId, unload, type) => {
    supportsUnload = unload;
    records = [aRecord({ disabled: true }, { configEntryId, disabledBy: 'user' })];
    resources = [aResource('a', { disabled: false })];
    await reconcile('a');
    expect(await reconcile('a')).toMatchObject({ type });
    states.add('/api/states/light.a');
    expect(await reconcile('a')).toMatchObject({ type: 'Ready' });
  });

  test('a dry-run names values that cannot be written', async () => {
    records = [aRecord({}, { originalName: null })];
    resources = [aResource('a', { areaName: 'Kitchen' })];
    expect(await reconcile('a', { dryRun: true })).toMatchObject({ reason: 'AreaBelongsToDevice' });
  });

  test('a dry-run names values that it would write', async () => {
    resources = [aResource('a', { name: 'New' })];
    const outcome = await reconcile('a', { dryRun: true });
    expect(outcome).toMatchObject({ type: 'Stalled', reason: 'DryRun' });
    expect(outcome.message).toContain('name: hub has null, resource says "New"');
    expect(writes).toEqual([]);
  });

  test('an entry that has disappeared needs no removal', async () => {
    resources = [aResource('a', { name: 'New' })];
    await settle('a');
    records = [];
    expect(await remove('a')).toEqual([]);
    expect(writes).toHaveLength(1);
  });

  test('a removal that does not reach the hub names the former settings', async () => {
    records = [aRecord({ name: 'Old' })];
    resources = [aResource('a', { name: 'New', icon: 'mdi:a' })];
    await settle('a');
    expect(sync.objectOf(resources[0]!)).toBe(
      'entity light.a with the settings of this resource (before: name: "Old", icon: none)',
    );
    await edit('a', { deletionPolicy: 'Orphan' });
    expect(sync.objectOf(resources[0]!)).toBeUndefined();
  });
});
