import { timestamp } from '../../../base/clock';
import { DEPENDENCY_REQUEUE, RESYNC } from '../../../base/limits';
import type { ConfigEntry } from '../../../client/connection/flow-step';
import type { Condition } from '../../../kinds';
import { type Outcome, ready, stalled, waiting } from '../../../runtime/outcome';
import { volumeStatus } from '../../hub-pod/hub-volume';
import { payloadHash } from '../../objects/payload-hash';
import {
  type AnswerHashes,
  incompleteHash,
  isComparable,
  isOfEntry,
  recorded,
  withMoves,
} from '../answer-hashes';
import type { IntegrationReconcile } from '../integration-context';
import type { Applied, FlowOperation } from '../operation';

/**
 * The outcome of a disabled entry. It is unloaded, unless its integration does not support that: then it is
 * only disabled after a restart.
 */
export function disabledOutcome({ domain, title, state }: ConfigEntry): Outcome {
  const name = `The ${domain} entry “${title}”`;
  if (state === 'not_loaded') return ready('EntryDisabled', `${name} is disabled in the hub.`);
  if (state === 'unload_in_progress')
    return waiting('EntryNotLoaded', `${name} is being unloaded.`, DEPENDENCY_REQUEUE);
  const message = `${name} could not be unloaded: it is disabled after the next restart of the hub.`;
  return stalled('EntryNotLoaded', message);
}

/**
 * The outcome of a resource by the state of its entry. When the state changes, the hub's events requeue the
 * resource. The delay is a fallback.
 *
 * @param previous the present condition `Ready`, which stays unchanged while the hub retries to set up the
 * entry
 */
export function entryOutcome(entry: ConfigEntry, previous: Condition | undefined): Outcome {
  const { domain, title, state, reason } = entry;
  const name = `The ${domain} entry “${title}”`;
  const because = reason ? `: ${reason}` : '';
  const failed = (what: string) => stalled('EntryNotLoaded', `${name} could not be ${what}${because || '.'}`);
  switch (state) {
    case 'loaded':
      return ready('EntryLoaded', `${name} is loaded.`);
    case 'setup_retry': {
      const message = `${name} could not be set up yet, and the hub tries again${because}`;
      return waiting('SetupRetry', message, RESYNC, { priority: 'resync' });
    }
    case 'setup_error':
      return stalled('SetupError', `${name} could not be set up${because || '. The hub’s log says why.'}`);
    case 'migration_error':
      return failed('migrated to this version of the hub');
    case 'failed_unload':
      return failed('unloaded: restart the hub');
    case 'setup_in_progress':
    case 'not_loaded':
    case 'unload_in_progress':
      return previous?.reason === 'SetupRetry'
        ? waiting('SetupRetry', previous.message, DEPENDENCY_REQUEUE)
        : waiting('EntryNotLoaded', `${name} is not loaded yet.`, DEPENDENCY_REQUEUE);
    default: {
      const message = `${name} is in the state ${state}${because || '.'}`;
      return waiting('EntryNotLoaded', message, DEPENDENCY_REQUEUE);
    }
  }
}

/** Value of `status.entryState` for a disabled entry, which the hub calls `not_loaded`. */
export const DISABLED = 'disabled';

/** Status fields of a resource without an entry. */
export const NO_ENTRY = {
  entryID: null,
  entryState: null,
  title: null,
  adopted: null,
  configHash: null,
  answerHashes: null,
  appliedHash: null,
  rejectedHash: null,
  unshownSteps: null,
  adoptedSubentries: null,
  pendingFlow: null,
} as const;

/**
 * Status fields of a resource whose entry was on another volume. Rejected answers stay recorded, so that they
 * are not sent to this hub either.
 */
export const forgottenEntry = ({ status, volume }: IntegrationReconcile) => ({
  ...NO_ENTRY,
  rejectedHash: status.rejectedHash ?? null,
  ...volumeStatus(volume),
});

/** The hashes of the answers with which an entry is created. */
export const entryHashes = (hashes: AnswerHashes): AnswerHashes =>
  Object.fromEntries(Object.entries(hashes).filter(([id]) => isOfEntry(id)));

/** The hash over the hashes of {@link entryHashes}. */
export const entryHash = (hashes: AnswerHashes, key: string): string =>
  recorded(entryHashes(hashes), key).configHash;

/** Status fields after an operation, with the hashes of the entry's answers. */
export function appliedStatus(
  { clock, hashes, status }: IntegrationReconcile,
  { sent }: FlowOperation,
  { ids, adopted, incomplete }: Applied,
): Readonly<Record<string, unknown>> {
  // Some integrations set the title in a flow of their entry. A changed title is then no drift.
  const ended = { pendingFlow: null, ...(ids.size > 0 && { title: null }) };
  // Hashes with different keys cannot be combined. The hashes in status are recorded again instead.
  if (ids.size === 0 || !isComparable(status.configHash, sent.key)) return ended;
  const before = withMoves(status.answerHashes ?? {}, hashes);
  const kept = Object.entries(before).filter(([id]) => !ids.has(id));
  const set = Object.entries(sent.hashes)
    .filter(([id]) => ids.has(id))
    .map(([id, hash]) => [id, incomplete.has(id) ? incompleteHash(hash, incomplete.get(id)) : hash]);
  const now = Object.fromEntries([...kept, ...set]) as AnswerHashes;
  const others = (status.adoptedSubentries ?? []).filter((id) => now[id] !== undefined);
  const subentries = [...new Set([...others, ...adopted])].sort();
  return {
    ...ended,
    ...recorded(now, sent.key),
    adoptedSubentries: subentries.length > 0 ? subentries : null,
    lastAppliedTime: timestamp(clock.now()),
  };
}

/** A hash of keyed hashes, which reveals nothing about the answers. */
export const appliedHash = (hashes: AnswerHashes = {}) => ({ appliedHash: payloadHash(hashes) });

/** The fields of the entry that the hub returns. */
export function seenStatus(
  { status, volume }: IntegrationReconcile,
  { disabled_by: disabledBy, title, state }: ConfigEntry,
): Readonly<Record<string, unknown>> {
  // While the hub retries to set up the entry, the recorded state stays the same.
  const isRetry = status.entryState === 'setup_retry' && state === 'setup_in_progress';
  const isDisabled = disabledBy !== null && state === 'not_loaded';
  return {
    title,
    ...appliedHash(status.answerHashes),
    ...volumeStatus(volume),
    entryState: isRetry ? 'setup_retry' : isDisabled ? DISABLED : state,
  };
}
