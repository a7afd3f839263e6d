import type { PendingFlow } from '../../kinds/integration';

/** Whether the flow is tried while the entry is still there: it may make a second one. */
export function isTrial({ kind, entryIDs }: PendingFlow): boolean {
  return kind === 'config' && entryIDs !== undefined;
}

/** Whether the flow may make an entry: no other one of its domain runs meanwhile. */
export function mayMakeEntry(pending: PendingFlow): boolean {
  return pending.kind === undefined || isTrial(pending);
}
