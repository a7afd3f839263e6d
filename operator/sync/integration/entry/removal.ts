import { HubFailed, HubRejected } from '../../../client/connection/errors';
import { API_NOT_LOADED_REQUEUE, FLOW_LIMIT } from '../../../base/limits';
import type { Outcome } from '../../../runtime/outcome';
import { ensureRemoved } from '../../objects/removal';
import type { IntegrationReconcile } from '../integration-context';
import { domainBusy, inProgress } from '../progress';
import { begin } from './acquisition';
import { entryHash } from './status';

/**
 * Removes an entry, which the hub unloads first, then calls `next`.
 *
 * @returns false while this is not done
 * @throws the error with which the removal ended
 */
export function removeEntry(
  { client, clock, hub, resource }: Pick<IntegrationReconcile, 'client' | 'clock' | 'hub' | 'resource'>,
  id: string,
  next: () => Promise<void> = () => Promise.resolve(),
): boolean {
  const run = () => client.configEntries.remove(id).then(next);
  const how = { clock, run, onEnd: () => hub.requeue(resource) };
  try {
    return ensureRemoved(hub.of(resource), { kind: 'entry', ids: [id] }, how);
  } catch (error) {
    // The hub rejected the removal, not the spec, so the removal is tried again.
    if (error instanceof HubRejected) throw new HubFailed(`cannot remove the entry ${id}: ${error.message}`);
    throw error;
  }
}

/**
 * Removes the entry that another one replaces (`status.pendingFlow.replaces`). This is done after the other
 * entry was created or, if the hub cannot have both, before.
 */
export async function finishReplacement(reconcile: IntegrationReconcile, former: string): Promise<Outcome> {
  const { client, draining, entries, hub, resource, status } = reconcile;
  if (draining) return inProgress(reconcile, undefined);
  const { entryID = '' } = status;
  // A hub that was restored from a backup may have only the former entry.
  if (entryID !== former && entries.has(entryID)) {
    // The entities of the new entry may have the ids of the former entry's entities, which the hub does not
    // add twice. They appear after a reload.
    const isRemoved = removeEntry(reconcile, former, () => client.configEntries.reload(entryID));
    return isRemoved
      ? inProgress(reconcile, undefined, 0, { pendingFlow: null })
      : inProgress(reconcile, undefined, API_NOT_LOADED_REQUEUE);
  }
  if (!entries.has(former)) return begin(reconcile);
  if (!isStillDue(reconcile)) return inProgress(reconcile, undefined, 0, { pendingFlow: null });
  const busy = hub.acquireDomain(resource);
  if (busy) return domainBusy(busy);
  return removeEntry(reconcile, former)
    ? begin({ ...reconcile, entries: await client.configEntries.refreshed() })
    : inProgress(reconcile, undefined, API_NOT_LOADED_REQUEUE);
}

/** Reports whether the answers are still those that were tried a short time ago. */
function isStillDue({ clock, hashes, key, spec, status }: IntegrationReconcile): boolean {
  const { configHash, startedAt = '' } = status.pendingFlow ?? {};
  const isRecent = Date.parse(startedAt) > clock.now() - FLOW_LIMIT;
  return spec.reconfigure === 'Recreate' && configHash === entryHash(hashes, key) && isRecent;
}
