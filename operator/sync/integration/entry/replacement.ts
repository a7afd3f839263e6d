import { API_NOT_LOADED_REQUEUE } from '../../../limits';
import type { Outcome } from '../../../runtime/outcome';
import { recorded } from '../answer-hashes';
import type { IntegrationReconcile } from '../integration-reconcile';
import { domainBusy, inProgress } from '../progress';
import { begin } from './acquisition';
import { ensureRemoved } from './removal';
import { entryHashes } from './status-fields';

/**
 * Removes the entry that another one replaces (`status.pendingFlow.replaces`): after the other one was made or, where the
 * hub has no place for two, before.
 */
export async function finishReplacement(reconcile: IntegrationReconcile, former: string): Promise<Outcome> {
  const { client, draining, entries, hub, resource, status } = reconcile;
  if (draining) return inProgress(reconcile, undefined);
  const { entryID = '' } = status;
  if (entryID !== former) {
    // Its entities may have been those of the former entry, which the hub does not add twice.
    const isRemoved = await ensureRemoved(reconcile, former, () => client.configEntries.reload(entryID));
    return isRemoved
      ? inProgress(reconcile, undefined, 0, { pendingFlow: null })
      : inProgress(reconcile, undefined, API_NOT_LOADED_REQUEUE);
  }
  if (!entries.has(former)) return begin(reconcile);
  if (!isStillDue(reconcile)) return inProgress(reconcile, undefined, 0, { pendingFlow: null });
  const busy = hub.acquireDomain(resource);
  if (busy) return domainBusy(busy);
  return (await ensureRemoved(reconcile, former))
    ? begin({ ...reconcile, entries: await client.configEntries.refreshed() })
    : inProgress(reconcile, undefined, API_NOT_LOADED_REQUEUE);
}

/** Whether the answers are still those that were tried. */
function isStillDue({ hashes, key, spec, status }: IntegrationReconcile): boolean {
  const now = recorded(entryHashes(hashes), key).configHash;
  return spec.reconfigure === 'Recreate' && status.pendingFlow?.configHash === now;
}
