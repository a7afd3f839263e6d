import { HubFailed } from '../../../../operator/client/connection/errors';
import type { HubClient } from '../../../../operator/client/hub-client';
import type { EntityRecord } from '../../../../operator/client/registries/entity-settings';
import type { Settings } from '../../../../operator/client/registries/settings';
import { automation } from '../../../../operator/kinds';
import { GROUP_VERSION } from '../../../../operator/kinds/group';
import { type Outcome, ready } from '../../../../operator/runtime/outcome';
import type { Child } from '../../../../operator/sync/objects/child';
import { OwnEntity, ownSettings } from '../../../../operator/sync/registry/borrowed/own-entity';
import { EntryContexts } from '../../../../operator/sync/registry/entry-contexts';
import { areas, labels } from '../../../../operator/sync/registry/entry-types';
import { silentLog } from '../../../cluster/silent-log';
import { ManualClock } from '../../manual-clock';
import { objectMetadata } from '../../object-metadata';
import { aHub, services } from '../fixtures';
import { hubClient } from '../../stand-in-hub/hub-client';

const object = { definition: automation, reason: 'AutomationGenerated' } as const;
const context = { signal: new AbortController().signal, log: silentLog, forced: false, dryRun: false };

let clock: ManualClock;
let settings: Settings;
let id: string;
let writes: Settings[];
let reads: number;
let failure: Error | undefined;
let areaIds: readonly string[];
let resource: Child;
let requeued: string[];
let changed: Map<string, () => void>;
let client: HubClient;
let own: OwnEntity;
let contexts: EntryContexts;

const anEntry = (): EntityRecord => ({
  id,
  entityId: 'automation.dim',
  integration: 'automation',
  uniqueId: 'dim',
  deviceId: null,
  configEntryId: null,
  translationKey: null,
  originalName: 'Dim',
  originalDeviceClass: null,
  hasOwnAlias: true,
  options: {},
  disabledBy: null,
  settings,
});

beforeEach(() => {
  clock = new ManualClock();
  settings = { icon: null, areaName: null, labels: ['managed'], aliases: [], hidden: false };
  id = 'r1';
  writes = [];
  reads = 0;
  failure = undefined;
  areaIds = ['hall'];
  requeued = [];
  changed = new Map();
  const registry = (type: string, ids: () => readonly string[]) => ({
    onChange: (listener: () => void) => void changed.set(type, listener),
    invalidate: () => undefined,
    entries: async () => new Map(ids().map((each) => [each, { name: each }])),
  });
  const entities = {
    onChange: (listener: () => void) => void changed.set('entity', listener),
    invalidate: () => undefined,
    entries: async () => {
      reads += 1;
      if (failure) throw failure;
      return { get: (each: string) => (each === id ? anEntry() : undefined), all: [anEntry()] };
    },
    update: async (_: EntityRecord, changes: Settings) => {
      writes.push(changes);
      settings = { ...settings, ...changes };
      return anEntry();
    },
  };
  client = hubClient({
    labels: { find: async (name: string) => (name === 'Managed by Hub Operator' ? 'managed' : undefined) },
    connection: { command: async () => ({ state: 'RUNNING', recovery_mode: false }) },
    rest: { redact: (text: string) => text },
    registries: {
      floor: registry('floor', () => []),
      zone: registry('zone', () => []),
      area: registry('area', () => areaIds),
      label: registry('label', () => ['energy', 'managed']),
    },
    settings: { entity: entities, device: entities },
    entityRegistry: { onChange: () => () => undefined, onAppearance: () => undefined },
    users: { onChange: () => undefined },
  });
  resource = {
    apiVersion: GROUP_VERSION,
    kind: 'HubAutomation',
    metadata: { ...objectMetadata, name: 'dim', namespace: 'home', uid: 'u', generation: 1 },
    spec: { hubRef: { name: 'villa' } },
    status: { adopted: true },
  };
  const given = services({
    clock,
    metrics: { countDrift: () => undefined },
    requeue: (...key) => void requeued.push(`${key[2]} ${key[3] ?? 'change'}`),
    cache: {
      get: () => aHub({ status: { volumeID: 'v1' } }) as never,
      ofHub: <T>(kind: string) => [resource].filter((each) => each.kind === kind) as never as Generator<T>,
      ofHubByStatus: () => [] as never,
    },
  });
  contexts = new EntryContexts(given, [areas, labels, ownSettings(object)]);
  own = new OwnEntity(object, given, contexts);
});

/** The outcome for the definition, which the hub has just accepted. */
const made = () =>
  ready('AutomationGenerated', 'The hub uses it.', {
    status: { appliedHash: 'h1', missingReferences: [{ type: 'entity', id: 'light.sofaa' }] },
  });

function give(entity: object | undefined, spec: object = {}): void {
  const { entity: _, ...others } = resource.spec as { readonly entity?: object };
  resource = { ...resource, spec: { ...others, ...(entity && { entity }), ...spec } } as Child;
}

async function settle(overrides: object = {}): Promise<Outcome> {
  const outcome = await own.settle(made(), id, resource, client, { ...context, ...overrides });
  const { reason } = outcome;
  const condition = { type: 'Ready', status: outcome.type === 'Ready' ? 'True' : 'False', reason };
  const status = {
    ...resource.status,
    ...outcome.status,
    conditions: [{ ...condition, observedGeneration: 1 }],
  };
  const present = Object.entries(status).filter(([, value]) => value !== null && value !== undefined);
  resource = { ...resource, status: Object.fromEntries(present) };
  return outcome;
}

async function settleAll(): Promise<Outcome> {
  await clock.advance(60_000);
  for (;;) {
    const outcome = await settle();
    if (outcome.type !== 'Waiting' || outcome.after > 0) return outcome;
  }
}

describe('settings of the entity of a HubAutomation', () => {
  test('without settings, no request is made and status has no record', async () => {
    expect(await settle()).toEqual(made());
    give({});
    expect(await settle()).toEqual(made());
    expect([reads, changed.size]).toEqual([0, 0]);
  });

  test('before the first write, status has the record and the result of the definition', async () => {
    give({ icon: 'mdi:a' });
    expect(await settle()).toMatchObject({ type: 'Waiting', reason: 'AutomationGenerated', after: 0 });
    expect(writes).toEqual([]);
    expect(resource.status).toMatchObject({
      appliedHash: 'h1',
      registryId: 'r1',
      previous: { icon: { ours: ['mdi:a'] } },
    });
    expect(await settle()).toMatchObject({ type: 'Ready', message: 'The hub uses it.' });
    expect(writes).toEqual([{ icon: 'mdi:a' }]);
    expect(resource.status).toMatchObject({
      appliedHash: 'h1',
      settingsHash: expect.stringContaining('sha256:'),
    });
  });

  test('a write that was interrupted is not drift: it is repeated, also with Warn', async () => {
    give({ icon: 'mdi:a' }, { driftPolicy: 'Warn' });
    await settle();
    expect(await settle()).toMatchObject({ type: 'Ready' });
    settings = { ...settings, icon: 'mdi:b' };
    await clock.advance(60_000);
    expect(await settle()).toMatchObject({ type: 'Stalled', reason: 'DriftDetected' });
    give({ icon: 'mdi:c' });
    expect(await settleAll()).toMatchObject({ type: 'Ready' });
    expect(writes.at(-1)).toEqual({ icon: 'mdi:c' });
  });

  test('when all settings are removed, the former ones are restored and the record is removed', async () => {
    settings = { ...settings, icon: 'mdi:old' };
    give({ icon: 'mdi:a', labels: ['energy'] });
    await settleAll();
    expect(settings['labels']).toEqual(['managed', 'energy']);
    give(undefined);
    expect(await settleAll()).toMatchObject({ type: 'Ready' });
    expect(settings).toMatchObject({ icon: 'mdi:old', labels: ['managed'] });
    for (const field of ['registryId', 'previous', 'settingsHash'])
      expect(resource.status).not.toHaveProperty(field);
    const before = reads;
    await settle();
    changed.get('entity')!();
    await clock.advance(300);
    expect([reads, requeued]).toEqual([before, []]);
  });

  test('the entry of an entity that was created again has no former settings', async () => {
    settings = { ...settings, icon: 'mdi:old' };
    give({ icon: 'mdi:a' });
    await settleAll();
    id = 'r2';
    settings = { ...settings, icon: null };
    expect(await settle()).toMatchObject({ type: 'Waiting', after: 0 });
    expect(resource.status).toMatchObject({ registryId: 'r2', previous: { icon: { ours: ['mdi:a'] } } });
    expect((resource.status!['previous'] as Record<string, object>)['icon']).not.toHaveProperty('was');
  });

  test('waits for a missing area, with the result of the definition in status', async () => {
    give({ areaName: 'attic' });
    expect(await settle()).toMatchObject({
      type: 'Waiting',
      unreported: false,
      status: { appliedHash: 'h1' },
    });
    expect(await settle()).toMatchObject({ type: 'Waiting', reason: 'AreaNotFound', unreported: true });
    await clock.advance(2_000);
    const outcome = await settle();
    expect(outcome).toMatchObject({ type: 'Waiting', reason: 'AreaNotFound' });
    expect(outcome).not.toHaveProperty('unreported');
    expect(outcome.message).toContain('“attic” in entity.areaName');
    areaIds = ['hall', 'attic'];
    changed.get('area')!();
    await clock.advance(300);
    expect(requeued).toEqual(['dim change']);
    expect(await settleAll()).toMatchObject({ type: 'Ready' });
  });

  test('the result of the definition is not lost when the hub fails', async () => {
    give({ icon: 'mdi:a' });
    failure = new HubFailed('Unknown error');
    expect(await settle()).toMatchObject({ type: 'Waiting', after: 0, status: { appliedHash: 'h1' } });
    await expect(settle()).rejects.toBe(failure);
  });

  test('a change of its entity in the hub reconciles the resource, and a change of another entity does not', async () => {
    give({ icon: 'mdi:a' });
    await settleAll();
    const before = reads;
    changed.get('entity')!();
    await clock.advance(300);
    expect(requeued).toEqual([]);
    settings = { ...settings, icon: 'mdi:b' };
    changed.get('entity')!();
    await clock.advance(300);
    expect([requeued, reads - before]).toEqual([['dim change'], 2]);
  });

  test.each([
    ['that are refused', { labels: ['Managed'] }, 'Stalled', 30_000],
    ['that wait for an area', { areaName: 'attic' }, 'Waiting', 1_000],
  ])('settings %s do not delay a check of the definition', async (_, entity, type, after) => {
    give(entity);
    await settleAll();
    await clock.advance(2_000);
    const definition = { ...made(), after };
    expect(await own.settle(definition, id, resource, client, context)).toMatchObject({ type, after });
  });

  test('a label of the operator itself is refused', async () => {
    give({ labels: ['Managed'] });
    expect(await settleAll()).toMatchObject({ type: 'Stalled', reason: 'InvalidSpec' });
    expect(writes).toEqual([]);
  });

  test('in a dry-run the difference is reported and nothing is sent', async () => {
    give({ icon: 'mdi:a' });
    expect(await settle({ dryRun: true })).toMatchObject({ type: 'Stalled', reason: 'DryRun' });
    expect(writes).toEqual([]);
  });

  test.each([
    ['of an adopted object are put back', {}, { adopted: true }, 'mdi:old'],
    ['stay with Orphan', { deletionPolicy: 'Orphan' }, { adopted: true }, 'mdi:a'],
    ['go with an object that is removed', {}, { adopted: null }, 'mdi:a'],
  ])('at the deletion, settings %s', async (_, spec, status, icon) => {
    settings = { ...settings, icon: 'mdi:old' };
    give({ icon: 'mdi:a' }, spec);
    await settleAll();
    resource = { ...resource, status: { ...resource.status, ...status } };
    expect(await own.putBack(resource, client)).toEqual([]);
    expect(settings).toMatchObject({ icon });
    expect(own.objectOf(resource) !== undefined).toBe(icon === 'mdi:old');
  });

  test('at the deletion, the former settings of an entity on another volume are not restored', async () => {
    settings = { ...settings, icon: 'mdi:old' };
    give({ icon: 'mdi:a' });
    await settleAll();
    resource = { ...resource, status: { ...resource.status, volumeID: 'v0' } };
    const [event] = await own.putBack(resource, client);
    expect(event).toMatchObject({
      reason: 'CleanupSkipped',
      message: expect.stringContaining('another volume'),
    });
    expect(settings).toMatchObject({ icon: 'mdi:a' });
  });
});
