import type { RegistryEntity } from '../../client/connection/api-types';
import type { EntityPayload } from '../../client/connection/config-entity';
import type { Clock } from '../../base/clock';
import { RESYNC } from '../../base/limits';
import type { Child } from '../objects/child';
import { diff, unexpressed } from './diff';
import type { ConfigEntitySpec, EntityType, EntityWork, LiveConfig } from './entity-type';
import { recordObserved, restoreObserved } from './entity-cache';
import type { FileReadSchedule } from './file-read-schedule';
import type { Observation } from './observation';
import { isAccepted, ownsId, wasAccepted } from './ownership';

/** The comparison of the live config with the desired payload. */
type LiveState =
  /** The hub returns the whole live config, which is equal to the payload or not. */
  | 'equal'
  | 'unequal'
  /** The hub returns a part of the live config, which matches the payload or not. */
  | 'matching'
  | 'mismatching'
  /** The hub has loaded the payload and disabled it as invalid. */
  | 'invalid'
  /** An entity is registered, but the hub runs nothing for it. */
  | 'notRunning'
  /** No entity is registered. */
  | 'unregistered';

/** The known content of the hub's file, without reading it. */
type Knowledge =
  /** No write of the operator is known. */
  | 'nothing'
  /** The hub accepted an earlier payload of the operator. */
  | 'outdated'
  /** The desired payload was written, or read from the file, moments ago: the hub may still be loading it. */
  | 'recent'
  /** The hub accepted the desired payload. */
  | 'accepted'
  /** The hub accepted the desired payload, but another client may have changed the object since then. */
  | 'uncertain';

type Verdict = 'InUse' | 'NotLoaded' | 'Invalid' | 'Absent' | 'Different' | 'ReadFile';

/**
 * The verdict for each combination. The file is read only if live config and known content are not
 * sufficient, since a read takes the hub up to 0.4 s, in which it parses the whole file.
 */
const VERDICTS: Readonly<Record<LiveState, Readonly<Record<Knowledge, Verdict>>>> = {
  // prettier-ignore
  equal: { nothing: 'InUse', outdated: 'InUse', recent: 'InUse', accepted: 'InUse', uncertain: 'InUse' },
  // prettier-ignore
  unequal: { nothing: 'Different', outdated: 'Different', recent: 'NotLoaded', accepted: 'ReadFile', uncertain: 'ReadFile' },
  // prettier-ignore
  matching: { nothing: 'ReadFile', outdated: 'ReadFile', recent: 'InUse', accepted: 'InUse', uncertain: 'ReadFile' },
  // prettier-ignore
  mismatching: { nothing: 'ReadFile', outdated: 'ReadFile', recent: 'NotLoaded', accepted: 'ReadFile', uncertain: 'ReadFile' },
  // prettier-ignore
  invalid: { nothing: 'ReadFile', outdated: 'ReadFile', recent: 'NotLoaded', accepted: 'Invalid', uncertain: 'ReadFile' },
  // prettier-ignore
  notRunning: { nothing: 'ReadFile', outdated: 'ReadFile', recent: 'NotLoaded', accepted: 'ReadFile', uncertain: 'ReadFile' },
  // prettier-ignore
  unregistered: { nothing: 'Absent', outdated: 'Absent', recent: 'NotLoaded', accepted: 'ReadFile', uncertain: 'ReadFile' },
};

/**
 * Milliseconds in which the hub should load a write. Only after that is the file read to find out why it has
 * not.
 */
const LOAD_GRACE_PERIOD = 30_000;

/** Compares the desired payload with the payload in the hub, with the fewest requests. */
export async function observe<R extends Child, S extends ConfigEntitySpec>(
  entityType: EntityType<R, S>,
  work: EntityWork<R, S>,
  schedule: FileReadSchedule,
  clock: Clock,
): Promise<Observation> {
  const { id, payload, hash, cached } = work;
  const now = clock.monotonic();
  const seen = await lookAt(entityType, work);
  const { entity, live, state, running } = seen;
  const revision = live?.type === 'Part' ? live.revision : undefined;
  if (state === 'matching') restoreObserved(cached, revision);
  const verdict = VERDICTS[state][knowledgeOf(entityType, work, now)];
  switch (verdict) {
    case 'InUse':
      if (state === 'equal') recordObserved(cached, 'live', hash, now);
      cached.revision ??= revision;
      return { type: 'InUse', entity: entity!, running };
    case 'NotLoaded':
      return { type: 'NotLoaded', entity };
    case 'Invalid':
      return { type: 'Invalid', entity, error: invalidConfigError(live) };
    case 'Absent':
      return { type: 'Absent', differences: diff(entityType, id, {}, payload) };
    case 'Different':
      return differentFrom(entityType, work, entity, live);
    case 'ReadFile': {
      const verifyAfter = state === 'matching' ? untilVerification(entityType, work, schedule, now) : 0;
      if (verifyAfter > 0) return { type: 'InUse', entity: entity!, running, verifyAfter };
      cached.verifyAt = undefined;
      return schedule.time(() => readFile(entityType, work, seen, now));
    }
  }
}

/** The object as the hub returns it without reading its file. */
export async function lookAt<R extends Child, S extends ConfigEntitySpec>(
  entityType: EntityType<R, S>,
  work: EntityWork<R, S>,
): Promise<Live> {
  const { client, id, cached } = work;
  const registry = client.entityRegistry;
  // An operation ends on another connection than the one that reports registry changes, so the registry is
  // read again.
  const entity = await (cached.operation?.end
    ? registry.findNow(entityType.type, id)
    : registry.find(entityType.type, id));
  const live = entity && (await entityType.readLive(work, entity));
  const running = live && 'actual' in live ? live.actual : undefined;
  return { entity, live, state: live ? stateOf(entityType, id, live) : 'unregistered', running };
}

interface Live {
  readonly entity: RegistryEntity | undefined;
  readonly live: LiveConfig | undefined;
  readonly state: LiveState;
  /** The whole payload that the hub runs. Undefined if the hub does not return it. */
  readonly running: EntityPayload | undefined;
}

async function readFile<R extends Child, S extends ConfigEntitySpec>(
  entityType: EntityType<R, S>,
  { client, id, payload, hash, cached }: EntityWork<R, S>,
  { entity, state, live, running }: Live,
  now: number,
): Promise<Observation> {
  const stored = await client.entities.read(entityType.type, id);
  const differences = diff(entityType, id, stored ?? {}, payload);
  if (!stored) return { type: 'Absent', entity, differences };
  if (differences.length > 0)
    return { type: 'Different', entity, differences, kept: unexpressed(entityType, stored) };
  recordObserved(cached, 'file', hash, now);
  cached.revision = live?.type === 'Part' ? live.revision : undefined;
  if (state === 'invalid') return { type: 'Invalid', entity, error: invalidConfigError(live) };
  return entity && state === 'matching' ? { type: 'InUse', entity, running } : { type: 'NotLoaded', entity };
}

/**
 * Milliseconds until the file may be read. An object that is probably unchanged is read according to the
 * schedule.
 */
function untilVerification<R extends Child, S extends ConfigEntitySpec>(
  entityType: EntityType<R, S>,
  work: EntityWork<R, S>,
  schedule: FileReadSchedule,
  now: number,
): number {
  const { cached, context } = work;
  const { observed } = cached;
  const isProbablyUnchanged = observed.source === 'status' || (observed.source === 'none' && observed.before);
  if (!isProbablyUnchanged || context.dryRun || !isAccepted(entityType, work)) return 0;
  cached.verifyAt ??= schedule.reserve();
  return Math.max(0, cached.verifyAt - now);
}

/**
 * The observation of a different definition. If the hub returns it with its blueprint expanded, the keys of
 * the blueprint are not kept.
 */
function differentFrom<R extends Child, S extends ConfigEntitySpec>(
  entityType: EntityType<R, S>,
  { id, payload }: EntityWork<R, S>,
  entity: RegistryEntity | undefined,
  live: LiveConfig | undefined,
): Observation {
  const { actual, desired } = live?.type === 'Whole' ? live : { actual: {}, desired: payload };
  const kept = payload['use_blueprint'] === undefined ? unexpressed(entityType, actual) : {};
  return { type: 'Different', entity, differences: diff(entityType, id, actual, desired), kept };
}

function stateOf<R extends Child, S extends ConfigEntitySpec>(
  entityType: EntityType<R, S>,
  id: string,
  live: LiveConfig,
): LiveState {
  switch (live.type) {
    case 'Whole':
      return diff(entityType, id, live.actual, live.desired).length === 0 ? 'equal' : 'unequal';
    case 'Part':
      return live.matches ? 'matching' : 'mismatching';
    case 'None':
      return 'notRunning';
    case 'Invalid':
      return 'invalid';
  }
}

const invalidConfigError = (live: LiveConfig | undefined): string =>
  live?.type === 'Invalid' ? live.error : '';

function knowledgeOf<R extends Child, S extends ConfigEntitySpec>(
  entityType: EntityType<R, S>,
  work: EntityWork<R, S>,
  now: number,
): Knowledge {
  const { observed } = work.cached;
  const age = now - observed.at;
  if (!ownsId(entityType, work)) return 'nothing';
  switch (observed.source) {
    case 'none':
      return isAccepted(entityType, work) ? 'uncertain' : 'nothing';
    case 'status':
      // The file may have been changed while no operator ran. One read after a while detects that.
      if (isAccepted(entityType, work)) return age > RESYNC / 2 ? 'uncertain' : 'accepted';
      return wasAccepted(entityType, work) ? 'outdated' : 'nothing';
    default:
      if (observed.hash !== work.hash) return 'outdated';
      if (observed.source === 'live' || work.cached.operation?.reload?.ok) return 'accepted';
      return age < LOAD_GRACE_PERIOD ? 'recent' : 'accepted';
  }
}
