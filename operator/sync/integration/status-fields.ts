import type { ConfigEntry } from '../../client/flow-step';
import { type Clock, timestamp } from '../../clock';
import { type AnswerHashes, placeOf, recorded } from './answer-hashes';
import type { Operation } from './operation';
import type { IntegrationWork } from './work';

/** Status fields of a resource without an entry. */
export const NO_ENTRY = {
  entryID: null,
  entryState: null,
  title: null,
  adopted: null,
  configHash: null,
  answerHashes: null,
  pendingFlow: null,
} as const;

/** Options and subentries are applied once there is an entry. */
export function entryHashes(hashes: AnswerHashes): AnswerHashes {
  const ofEntry = ([id]: [string, string]) => ['configuration', 'steps'].includes(placeOf(id).part);
  return Object.fromEntries(Object.entries(hashes).filter(ofEntry));
}

/** After an operation: the hashes of what the entry has now. */
export function appliedStatus(
  { key, status }: IntegrationWork,
  clock: Clock,
  { sent }: Operation,
  applied: ReadonlySet<string>,
): Readonly<Record<string, unknown>> {
  if (applied.size === 0) return {};
  const kept = Object.entries(status.answerHashes ?? {}).filter(([id]) => !applied.has(id));
  const set = Object.entries(sent.hashes).filter(([id]) => applied.has(id));
  return {
    ...recorded(Object.fromEntries([...kept, ...set]), key),
    lastAppliedTime: timestamp(clock.now()),
  };
}

/** What the hub shows of the entry. */
export function seenStatus(
  { status }: IntegrationWork,
  { title, state }: ConfigEntry,
): Readonly<Record<string, unknown>> {
  // The hub tries to set it up again: its state stays the same.
  const isRetry = status.entryState === 'setup_retry' && state === 'setup_in_progress';
  return { title, entryState: isRetry ? 'setup_retry' : state };
}
