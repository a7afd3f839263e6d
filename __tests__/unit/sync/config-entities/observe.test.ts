import type { EntityBody } from '../../../../operator/client/config-entities';
import type { RegistryEntity } from '../../../../operator/client/entity-registry';
import type { HubScene, HubSceneSpec } from '../../../../operator/kinds';
import { RESYNC } from '../../../../operator/limits';
import { bodyHash } from '../../../../operator/sync/config-entities/payload';
import type { Family, Shown, Work } from '../../../../operator/sync/config-entities/entity-type';
import { look } from '../../../../operator/sync/config-entities/observe';
import type { EntityMemory } from '../../../../operator/sync/config-entities/entity-cache';
import { scenes } from '../../../../operator/sync/config-entities/scene';
import { FakeClock } from '../../fake-clock';

// What is compared, and what that costs the hub: reading its file is what must be rare.

const WANTED: EntityBody = { name: 'Film', entities: { 'light.a': { state: 'on' } } };
const OTHER: EntityBody = { name: 'Film', entities: { 'light.a': { state: 'off' } } };
const HASH = bodyHash(WANTED);

interface Case {
  /** What the hub's memory shows; absent: there is no entity. */
  readonly shown?: Shown | 'nothing';
  /** What the hub's file has. */
  readonly stored?: EntityBody;
  /** Of what status says was accepted last; undefined: it is not claimed. */
  readonly accepted?: EntityBody | 'nothing';
  readonly memory?: Partial<EntityMemory>;
  readonly dryRun?: boolean;
}

async function lookAt({ shown, stored, accepted, memory = {}, dryRun = false }: Case) {
  const clock = new FakeClock();
  const reads: string[] = [];
  const entity = { entity_id: 'scene.film', disabled_by: null } as RegistryEntity;
  const find = () => Promise.resolve(shown === undefined ? undefined : entity);
  const family: Family<HubScene, HubSceneSpec> = {
    ...scenes,
    shown: () => Promise.resolve(shown === 'nothing' ? undefined : shown),
  };
  const work = {
    resource: {
      status: accepted && {
        sceneId: 'film',
        ...(accepted !== 'nothing' && { appliedHash: bodyHash(accepted) }),
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
    memory: { doubted: false, since: clock.monotonic(), ...memory },
    id: 'film',
    body: WANTED,
    hash: HASH,
  } as unknown as Work<HubScene, HubSceneSpec>;
  const { there, loaded, differs } = await look(family, work, clock);
  const verdict = differs.length > 0 ? 'differs' : loaded ? 'same' : 'unloaded';
  return { there, verdict, reads: reads.length, memory: work.memory };
}

const inMemory = (present: EntityBody): Shown => ({ present, wanted: WANTED });
const justWritten = () => ({ stored: HASH, writtenAt: new FakeClock().monotonic() });

test.each<[string, Case, { there: boolean; verdict: string; reads: number }]>([
  // What the hub shows is compared as it is.
  [
    'runs as wanted',
    { shown: inMemory(WANTED), accepted: WANTED },
    { there: true, verdict: 'same', reads: 0 },
  ],
  [
    'runs, and the wish is new',
    { shown: inMemory(OTHER), accepted: OTHER },
    { there: true, verdict: 'differs', reads: 0 },
  ],
  ['runs, and is not ours yet', { shown: inMemory(OTHER) }, { there: true, verdict: 'differs', reads: 0 }],
  [
    'runs otherwise than accepted',
    { shown: inMemory(OTHER), stored: OTHER, accepted: WANTED },
    { there: true, verdict: 'differs', reads: 1 },
  ],
  [
    'runs otherwise than its file says',
    { shown: inMemory(OTHER), stored: WANTED, accepted: WANTED },
    { there: true, verdict: 'unloaded', reads: 1 },
  ],
  [
    'was just written',
    { shown: inMemory(OTHER), accepted: OTHER, memory: justWritten() },
    { there: true, verdict: 'unloaded', reads: 0 },
  ],
  [
    'was just written, loaded, and changed by somebody',
    { shown: inMemory(OTHER), stored: OTHER, accepted: WANTED, memory: { ...justWritten(), loaded: HASH } },
    { there: true, verdict: 'differs', reads: 1 },
  ],
  // What it hides is believed, until somebody else was at work.
  [
    'hides what was accepted',
    { shown: 'hidden', accepted: WANTED },
    { there: true, verdict: 'same', reads: 0 },
  ],
  [
    'hides what may be changed',
    { shown: 'hidden', stored: OTHER, accepted: WANTED, memory: { doubted: true } },
    { there: true, verdict: 'differs', reads: 1 },
  ],
  [
    'hides what was changed and put back',
    { shown: 'hidden', stored: WANTED, accepted: WANTED, memory: { doubted: true } },
    { there: true, verdict: 'same', reads: 1 },
  ],
  [
    'hides what nobody has read since long',
    { shown: 'hidden', stored: WANTED, accepted: WANTED, memory: { since: -RESYNC } },
    { there: true, verdict: 'same', reads: 1 },
  ],
  [
    'hides it, and the wish is new',
    { shown: 'hidden', accepted: OTHER },
    { there: true, verdict: 'differs', reads: 0 },
  ],
  [
    'hides it, the wish is new, and nothing may be sent',
    { shown: 'hidden', stored: OTHER, accepted: OTHER, dryRun: true },
    { there: true, verdict: 'differs', reads: 1 },
  ],
  [
    'hides what is not ours yet',
    { shown: 'hidden', stored: WANTED },
    { there: true, verdict: 'same', reads: 1 },
  ],
  // What is not there.
  ['has nothing', {}, { there: false, verdict: 'differs', reads: 0 }],
  ['has nothing that we claimed', { accepted: 'nothing' }, { there: false, verdict: 'differs', reads: 0 }],
  ['has nothing any more', { accepted: WANTED }, { there: false, verdict: 'differs', reads: 1 }],
  [
    'has an entity of something that is gone',
    { shown: 'nothing' },
    { there: false, verdict: 'differs', reads: 1 },
  ],
  [
    'has not loaded what was accepted',
    { stored: WANTED, accepted: WANTED },
    { there: true, verdict: 'unloaded', reads: 1 },
  ],
])('a hub that %s', async (_, given, expected) => {
  expect(await lookAt(given)).toMatchObject(expected);
});

it('believes what it has read, until the next doubt', async () => {
  const { memory } = await lookAt({
    shown: 'hidden',
    stored: WANTED,
    accepted: WANTED,
    memory: { doubted: true },
  });
  expect(memory).toMatchObject({ stored: HASH, doubted: false });
  expect((await lookAt({ shown: 'hidden', accepted: WANTED, memory })).reads).toBe(0);
});
