import type { ConfigEntry } from '../../../client/connection/flow-step';
import { timestamp } from '../../../base/clock';
import { volumeStatus } from '../../hub-workload/hub-volume';
import { payloadHash } from '../../objects/payload-hash';
import {
  type AnswerHashes,
  incompleteHash,
  isComparable,
  isOfEntry,
  recorded,
  withMoves,
} from '../answer-hashes';
import type { Applied, FlowOperation } from '../operation';
import type { IntegrationReconcile } from '../integration-reconcile';

/** `status.entryState` of a disabled entry, which the hub calls `not_loaded`. */
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
 * Fields of a resource whose entry was on another volume. Answers that were rejected are not sent to this hub either.
 */
export const forgottenEntry = ({ status, volume }: IntegrationReconcile) => ({
  ...NO_ENTRY,
  rejectedHash: status.rejectedHash ?? null,
  ...volumeStatus(volume),
});

/** The hashes of the answers that an entry is made with. */
export const entryHashes = (hashes: AnswerHashes): AnswerHashes =>
  Object.fromEntries(Object.entries(hashes).filter(([id]) => isOfEntry(id)));

/** The hash over them. */
export const entryHash = (hashes: AnswerHashes, key: string): string =>
  recorded(entryHashes(hashes), key).configHash;

/** After an operation: the hashes of the entry's answers. */
export function appliedStatus(
  { clock, hashes, status }: IntegrationReconcile,
  { sent }: FlowOperation,
  { ids, adopted, incomplete }: Applied,
): Readonly<Record<string, unknown>> {
  // Some integrations set the title in a flow of their entry: then another one than before is no drift.
  const ended = { pendingFlow: null, ...(ids.size > 0 && { title: null }) };
  // With another key they cannot be put together: those of status are recorded again.
  if (ids.size === 0 || !isComparable(status.configHash, sent.key)) return ended;
  const before = withMoves(status.answerHashes ?? {}, hashes);
  const kept = Object.entries(before).filter(([id]) => !ids.has(id));
  const set = Object.entries(sent.hashes)
    .filter(([id]) => ids.has(id))
    .map(([id, hash]): [string, string] => {
      const used = incomplete.get(id);
      return [id, used === undefined ? hash : incompleteHash(hash, used)];
    });
  const now: AnswerHashes = Object.fromEntries([...kept, ...set]);
  const others = (status.adoptedSubentries ?? []).filter((id) => now[id] !== undefined);
  const subentries = [...new Set([...others, ...adopted])].sort();
  return {
    ...ended,
    ...recorded(now, sent.key),
    adoptedSubentries: subentries.length > 0 ? subentries : null,
    lastAppliedTime: timestamp(clock.now()),
  };
}

/** A hash of keyed hashes: it reveals nothing. */
export function appliedHash(hashes: AnswerHashes = {}): { readonly appliedHash: string } {
  return { appliedHash: payloadHash(hashes) };
}

/** The fields that the hub shows of the entry. */
export function seenStatus(
  { status, volume }: IntegrationReconcile,
  { disabled_by: disabledBy, title, state }: ConfigEntry,
): Readonly<Record<string, unknown>> {
  // The hub tries to set it up again: its state stays the same.
  const isRetry = status.entryState === 'setup_retry' && state === 'setup_in_progress';
  const isDisabled = disabledBy !== null && state === 'not_loaded';
  return {
    title,
    ...appliedHash(status.answerHashes),
    ...volumeStatus(volume),
    entryState: isRetry ? 'setup_retry' : isDisabled ? DISABLED : state,
  };
}
