import type { ConfigEntry } from '../../client/flow-step';
import type { PendingFlow } from '../../kinds/integration';

/** Milliseconds from the record of a trial to an entry that it makes: its flow asks for nothing but choices in menus. */
const TRIAL_LIMIT = 60_000;

/** Whether the flow is tried while the entry is still there: it may make a second one. */
export function isTrial({ kind, entryIDs }: PendingFlow): boolean {
  return kind === 'config' && entryIDs !== undefined;
}

/** Whether the flow may make an entry: no other one of its domain runs meanwhile. */
export function mayMakeEntry(pending: PendingFlow): boolean {
  return pending.kind === undefined || isTrial(pending);
}

/** Whether the trial made the entry. The hub does not say so, but a person hardly makes one within the same minute. */
export function isOfTrial({ created_at: createdAt }: ConfigEntry, { startedAt = '' }: PendingFlow): boolean {
  return createdAt !== undefined && Math.abs(createdAt * 1_000 - Date.parse(startedAt)) <= TRIAL_LIMIT;
}
