import type { EntityPayload } from '../../../../operator/client/connection/config-entity';
import type { RegistryEntity } from '../../../../operator/client/connection/api-types';
import type { HubScene, HubSceneSpec } from '../../../../operator/kinds';
import { RESYNC } from '../../../../operator/base/limits';
import {
  type CachedEntity,
  EntityOperation,
  type Observed,
} from '../../../../operator/sync/config-entities/entity-cache';
import type {
  EntityType,
  EntityWork,
  LiveConfig,
} from '../../../../operator/sync/config-entities/entity-type';
import { FileReadSchedule } from '../../../../operator/sync/config-entities/file-read-schedule';
import { observe } from '../../../../operator/sync/config-entities/observe';
import { payloadHash } from '../../../../operator/sync/objects/payload-hash';
import { scenes } from '../../../../operator/sync/config-entities/scene';
import { ManualClock } from '../../manual-clock';

const DESIRED: EntityPayload = { name: 'Film', entities: { 'light.a': { state: 'on' } } };
const OTHER: EntityPayload = { name: 'Film', entities: { 'light.a': { state: 'off' } } };
const HASH = payloadHash(DESIRED);

interface Hub {
  /** The definition that the hub runs; undefined when no entity is registered. */
  readonly live?: LiveConfig;
  /** The definition in the hub's file. */
  readonly file?: EntityPayload | undefined;
}

interface Known {
  /**
   * The payload that the hub last accepted according to `status`; undefined when the resource does not own
   * the id.
   */
  readonly status?: EntityPayload | 'nothing accepted';
  readonly observed?: Observed;
  readonly operation?: EntityOperation;
}

const clock = new ManualClock();

const ENDED = { type: 'completed', at: 1, result: undefined } as const;

async function observed(
  { live, file }: Hub,
  { status, observed: before, operation }: Known,
  schedule = new FileReadSchedule(clock),
) {
  let reads = 0;
  const entity = { entity_id: 'scene.film', disabled_by: null } as RegistryEntity;
  const find = () => Promise.resolve(live && entity);
  const read = () => {
    reads += 1;
    return Promise.resolve(file && { id: 'film', ...file });
  };
  const accepted = typeof status === 'object' && { appliedHash: payloadHash(status) };
  const cached: CachedEntity = { observed: before ?? { source: 'status', at: clock.monotonic() }, operation };
  const work = {
    resource: { status: status && { sceneId: 'film', ...accepted } },
    client: { entityRegistry: { find, findNow: find }, entities: { read } },
    context: { dryRun: false },
    cached,
    id: 'film',
    payload: DESIRED,
    hash: HASH,
  } as unknown as EntityWork<HubScene, HubSceneSpec>;
  const entityType: EntityType<HubScene, HubSceneSpec> = {
    ...scenes,
    readLive: () => Promise.resolve(live!),
  };
  const observation = await observe(entityType, work, schedule, clock);
  const verifyAfter = observation.type === 'InUse' ? observation.verifyAfter : undefined;
  return { type: observation.type, verifyAfter, reads, cached };
}

/** The hub's live config, by the names in the table of observe.ts. */
const LIVE = {
  equal: { type: 'Whole', actual: DESIRED, desired: DESIRED },
  unequal: { type: 'Whole', actual: OTHER, desired: DESIRED },
  matching: { type: 'Part', matches: true },
  mismatching: { type: 'Part', matches: false },
  invalid: { type: 'Invalid', error: 'boom' },
  notRunning: { type: 'None' },
  unregistered: undefined,
} as const satisfies Record<string, LiveConfig | undefined>;

/**
 * Knowledge of the operator before it reads the file, by the names in the table of observe.ts, with every way
 * to it.
 */
const KNOWN = {
  nothing: [
    {},
    { status: 'nothing accepted' },
    { status: OTHER, observed: { source: 'none', at: 0 } },
    { observed: { source: 'live', hash: HASH, at: 0 } }, // observed under the former id
  ],
  outdated: [
    { status: OTHER },
    { status: DESIRED, observed: { source: 'write', hash: payloadHash(OTHER), at: 0 } },
  ],
  recent: [
    { status: OTHER, observed: { source: 'write', hash: HASH, at: 0 } },
    { status: DESIRED, observed: { source: 'reload', hash: HASH, at: 0 } },
  ],
  accepted: [
    { status: DESIRED },
    { status: OTHER, observed: { source: 'live', hash: HASH, at: 0 } },
    { status: DESIRED, observed: { source: 'file', hash: HASH, at: -60_000 } },
  ],
  uncertain: [
    { status: DESIRED, observed: { source: 'none', at: 0 } },
    { status: DESIRED, observed: { source: 'status', at: -RESYNC } },
  ],
} as const satisfies Record<string, readonly Known[]>;

type Expected = 'InUse' | 'NotLoaded' | 'Invalid' | 'Absent' | 'Different' | 'reads the file';

// prettier-ignore
const TABLE: readonly [keyof typeof LIVE, Record<keyof typeof KNOWN, Expected>][] = [
  ['equal', { nothing: 'InUse', outdated: 'InUse', recent: 'InUse', accepted: 'InUse', uncertain: 'InUse' }],
  ['unequal', { nothing: 'Different', outdated: 'Different', recent: 'NotLoaded', accepted: 'reads the file', uncertain: 'reads the file' }],
  ['matching', { nothing: 'reads the file', outdated: 'reads the file', recent: 'InUse', accepted: 'InUse', uncertain: 'reads the file' }],
  ['mismatching', { nothing: 'reads the file', outdated: 'reads the file', recent: 'NotLoaded', accepted: 'reads the file', uncertain: 'reads the file' }],
  ['invalid', { nothing: 'reads the file', outdated: 'reads the file', recent: 'NotLoaded', accepted: 'Invalid', uncertain: 'reads the file' }],
  ['notRunning', { nothing: 'reads the file', outdated: 'reads the file', recent: 'NotLoaded', accepted: 'reads the file', uncertain: 'reads the file' }],
  ['unregistered', { nothing: 'Absent', outdated: 'Absent', recent: 'NotLoaded', accepted: 'reads the file', uncertain: 'reads the file' }],
];

/** The expected result when the file is read, by the live config. */
const READ = {
  matching: 'InUse',
  invalid: 'Invalid',
  mismatching: 'NotLoaded',
  notRunning: 'NotLoaded',
} as const;

const CASES = TABLE.flatMap(([live, row]) =>
  Object.entries(row).flatMap(([knowledge, expected]) =>
    KNOWN[knowledge as keyof typeof KNOWN].map(
      (known: Known, way) => [live, knowledge, way + 1, known, expected] as const,
    ),
  ),
);

describe('observe', () => {
  test.each(CASES)(
    'with the live config %s and %s known (way %i) it answers from memory or reads the file once, as its table says',
    async (live, _knowledge, _way, known, expected) => {
      const hub = (file?: EntityPayload): Hub => ({ ...(LIVE[live] && { live: LIVE[live] }), file });
      if (expected !== 'reads the file') {
        expect(await observed(hub(), known)).toMatchObject({ type: expected, reads: 0 });
        return;
      }
      const same = live in READ ? READ[live as keyof typeof READ] : 'NotLoaded';
      expect(await observed(hub(DESIRED), known)).toMatchObject({ type: same, reads: 1 });
      expect(await observed(hub(OTHER), known)).toMatchObject({ type: 'Different', reads: 1 });
      expect(await observed(hub(), known)).toMatchObject({ type: 'Absent', reads: 1 });
    },
  );

  test('content that was read from the file is used until it is invalidated', async () => {
    const uncertain = KNOWN.uncertain[0];
    const { cached } = await observed({ live: LIVE.matching, file: DESIRED }, uncertain);
    expect(cached.observed).toMatchObject({ source: 'file', hash: HASH });
    const again = await observed({ live: LIVE.matching }, { ...uncertain, observed: cached.observed });
    expect(again).toMatchObject({ type: 'InUse', reads: 0 });
  });

  test('after a reload by the operator has succeeded, the hub gets no more time to load its writes', async () => {
    const reload = { ok: true, reloadId: 'r', startedAt: 0 } as const;
    const operation = Object.assign(new EntityOperation(clock, 0, HASH), { wroteAt: 1, end: ENDED, reload });
    const written = { status: OTHER, observed: { source: 'write', hash: HASH, at: 0 } } as const;
    expect(await observed({ live: LIVE.unequal, file: OTHER }, written)).toMatchObject({ type: 'NotLoaded' });
    const found = await observed({ live: LIVE.unequal, file: OTHER }, { ...written, operation });
    expect(found).toMatchObject({ type: 'Different', reads: 1 });
  });

  test('of many that are probably unchanged, one is read at a time, and the others stay in use meanwhile', async () => {
    const schedule = new FileReadSchedule(clock);
    const before = { source: 'file', hash: HASH, at: 0 } as const;
    const known = { status: DESIRED, observed: { source: 'none', at: 0, before } } as const;
    const hub = { live: LIVE.matching, file: OTHER };
    expect(await observed(hub, known, schedule)).toMatchObject({ type: 'Different', reads: 1 });
    const second = await observed(hub, known, schedule);
    expect(second).toMatchObject({ type: 'InUse', reads: 0 });
    expect(second.verifyAfter).toBeGreaterThan(0);
    const differing = await observed({ ...hub, live: LIVE.mismatching }, known, schedule);
    expect(differing).toMatchObject({ type: 'Different', reads: 1 });
  });

  test('a definition that was in use and then changed is read from the file immediately', async () => {
    const { cached } = await observed({ live: LIVE.equal }, { status: DESIRED });
    expect(cached.observed).toMatchObject({ source: 'live', hash: HASH });
    const changed = await observed(
      { live: LIVE.unequal, file: OTHER },
      { status: DESIRED, observed: cached.observed },
    );
    expect(changed).toMatchObject({ type: 'Different', reads: 1 });
  });
});
