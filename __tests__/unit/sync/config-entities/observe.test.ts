import type { EntityPayload } from '../../../../operator/client/config-entities';
import type { RegistryEntity } from '../../../../operator/client/entity-registry';
import type { HubScene, HubSceneSpec } from '../../../../operator/kinds';
import { RESYNC } from '../../../../operator/limits';
import { payloadHash } from '../../../../operator/sync/config-entities/payload';
import type {
  EntityType,
  LiveConfig,
  EntityWork,
} from '../../../../operator/sync/config-entities/entity-type';
import { observe } from '../../../../operator/sync/config-entities/observe';
import type { CachedEntity } from '../../../../operator/sync/config-entities/entity-cache';
import { scenes } from '../../../../operator/sync/config-entities/scene';
import { FakeClock } from '../../fake-clock';

// What is compared, and what that costs the hub: reading its file is what must be rare.

const DESIRED: EntityPayload = { name: 'Film', entities: { 'light.a': { state: 'on' } } };
const OTHER: EntityPayload = { name: 'Film', entities: { 'light.a': { state: 'off' } } };
const HASH = payloadHash(DESIRED);

interface Case {
  /** What the hub's cached shows; absent: there is no entity. */
  readonly shown?: LiveConfig | 'nothing';
  /** What the hub's file has. */
  readonly stored?: EntityPayload;
  /** Of what status says was accepted last; undefined: it is not claimed. */
  readonly accepted?: EntityPayload | 'nothing';
  readonly cached?: Partial<CachedEntity>;
  readonly dryRun?: boolean;
}

async function lookAt({ shown, stored, accepted, cached = {}, dryRun = false }: Case) {
  const clock = new FakeClock();
  const reads: string[] = [];
  const entity = { entity_id: 'scene.film', disabled_by: null } as RegistryEntity;
  const find = () => Promise.resolve(shown === undefined ? undefined : entity);
  const entityType: EntityType<HubScene, HubSceneSpec> = {
    ...scenes,
    readLive: () => Promise.resolve(shown === 'nothing' ? undefined : shown),
  };
  const work = {
    resource: {
      status: accepted && {
        sceneId: 'film',
        ...(accepted !== 'nothing' && { appliedHash: payloadHash(accepted) }),
      },
    },
    client: {
      entityRegistry: { find, findNow: find },
      entities: {
        read: (_: string, id: string) => {
          reads.push(id);
          return Promise.resolve(stored && { id, ...stored });
        },
      },
    },
    context: { dryRun },
    cached: { doubted: false, since: clock.monotonic(), ...cached },
    id: 'film',
    payload: DESIRED,
    hash: HASH,
  } as unknown as EntityWork<HubScene, HubSceneSpec>;
  const { exists, loaded, differences } = await observe(entityType, work, clock);
  const verdict = differences.length > 0 ? 'differs' : loaded ? 'same' : 'unloaded';
  return { exists, verdict, reads: reads.length, cached: work.cached };
}

const inMemory = (actual: EntityPayload): LiveConfig => ({ actual, desired: DESIRED });
const justWritten = () => ({ stored: HASH, writtenAt: new FakeClock().monotonic() });

test.each<[string, Case, { exists: boolean; verdict: string; reads: number }]>([
  // What the hub shows is compared as it is.
  [
    'runs as wanted',
    { shown: inMemory(DESIRED), accepted: DESIRED },
    { exists: true, verdict: 'same', reads: 0 },
  ],
  [
    'runs, and the wish is new',
    { shown: inMemory(OTHER), accepted: OTHER },
    { exists: true, verdict: 'differs', reads: 0 },
  ],
  ['runs, and is not ours yet', { shown: inMemory(OTHER) }, { exists: true, verdict: 'differs', reads: 0 }],
  [
    'runs otherwise than accepted',
    { shown: inMemory(OTHER), stored: OTHER, accepted: DESIRED },
    { exists: true, verdict: 'differs', reads: 1 },
  ],
  [
    'runs otherwise than its file says',
    { shown: inMemory(OTHER), stored: DESIRED, accepted: DESIRED },
    { exists: true, verdict: 'unloaded', reads: 1 },
  ],
  [
    'was just written',
    { shown: inMemory(OTHER), accepted: OTHER, cached: justWritten() },
    { exists: true, verdict: 'unloaded', reads: 0 },
  ],
  [
    'was just written, loaded, and changed by somebody',
    { shown: inMemory(OTHER), stored: OTHER, accepted: DESIRED, cached: { ...justWritten(), loaded: HASH } },
    { exists: true, verdict: 'differs', reads: 1 },
  ],
  // What it hides is believed, until somebody else was at work.
  [
    'hides what was accepted',
    { shown: 'hidden', accepted: DESIRED },
    { exists: true, verdict: 'same', reads: 0 },
  ],
  [
    'hides what may be changed',
    { shown: 'hidden', stored: OTHER, accepted: DESIRED, cached: { doubted: true } },
    { exists: true, verdict: 'differs', reads: 1 },
  ],
  [
    'hides what was changed and put back',
    { shown: 'hidden', stored: DESIRED, accepted: DESIRED, cached: { doubted: true } },
    { exists: true, verdict: 'same', reads: 1 },
  ],
  [
    'hides what nobody has read since long',
    { shown: 'hidden', stored: DESIRED, accepted: DESIRED, cached: { since: -RESYNC } },
    { exists: true, verdict: 'same', reads: 1 },
  ],
  [
    'hides it, and the wish is new',
    { shown: 'hidden', accepted: OTHER },
    { exists: true, verdict: 'differs', reads: 0 },
  ],
  [
    'hides it, the wish is new, and nothing may be sent',
    { shown: 'hidden', stored: OTHER, accepted: OTHER, dryRun: true },
    { exists: true, verdict: 'differs', reads: 1 },
  ],
  [
    'hides what is not ours yet',
    { shown: 'hidden', stored: DESIRED },
    { exists: true, verdict: 'same', reads: 1 },
  ],
  // What is not there.
  ['has nothing', {}, { exists: false, verdict: 'differs', reads: 0 }],
  ['has nothing that we claimed', { accepted: 'nothing' }, { exists: false, verdict: 'differs', reads: 0 }],
  ['has nothing any more', { accepted: DESIRED }, { exists: false, verdict: 'differs', reads: 1 }],
  [
    'has an entity of something that is gone',
    { shown: 'nothing' },
    { exists: false, verdict: 'differs', reads: 1 },
  ],
  [
    'has not loaded what was accepted',
    { stored: DESIRED, accepted: DESIRED },
    { exists: true, verdict: 'unloaded', reads: 1 },
  ],
])('a hub that %s', async (_, given, expected) => {
  expect(await lookAt(given)).toMatchObject(expected);
});

test('believes what it has read, until the next doubt', async () => {
  const { cached } = await lookAt({
    shown: 'hidden',
    stored: DESIRED,
    accepted: DESIRED,
    cached: { doubted: true },
  });
  expect(cached).toMatchObject({ stored: HASH, doubted: false });
  expect((await lookAt({ shown: 'hidden', accepted: DESIRED, cached })).reads).toBe(0);
});
