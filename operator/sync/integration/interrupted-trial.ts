import type { ConfigEntry } from '../../client/flow-step';
import type { Clock } from '../../clock';
import type { PendingFlow } from '../../kinds/integration';
import type { EventSpec } from '../../runtime/event-spec';
import type { Outcome } from '../../runtime/outcome';
import { domainBusy, type EntryAcquisition, leftEntries } from './entry/acquisition';
import { type AnswerHashes, changedAnswers, isComparable, recorded, withMoves } from './answer-hashes';
import { removeEntry } from './entry-removal';
import { inProgress } from './progress';
import { entryHashes } from './entry/status-fields';
import type { IntegrationReconcile } from './integration-reconcile';

/** States in which an entry is set up or removed: what comes of it shows whether it stays. */
const CHANGING = ['setup_in_progress', 'unload_in_progress'];
/** Milliseconds until such an entry is checked again, and for which it is waited for: the hub sets no limit. */
const CHANGING_REQUEUE = 2_000;
const CHANGING_LIMIT = 10 * 60_000;

/**
 * Ends the trial of a flow that a process did not finish, so that one entry remains (rules.md, "Integrations"). A second
 * entry that the trial made takes the place of the present one. Where a person may have made it, both stay, and an event
 * says so.
 */
export async function endTrial(
  reconcile: IntegrationReconcile,
  pending: PendingFlow,
  acquisition: EntryAcquisition,
  clock: Clock,
): Promise<Outcome> {
  const { client, draining, hub, resource, status } = reconcile;
  const ended = { pendingFlow: null };
  if (draining) return inProgress(reconcile, undefined);
  const running = hub.runningFlow(resource);
  if (running) return domainBusy(running);
  const { made, unclear } = await acquisition.endPending(resource, client, hub);
  const left = (entries: readonly ConfigEntry[]) => {
    for (const { entry_id: id } of entries) hub.releaseEntry(resource, id);
    return inProgress(reconcile, undefined, 0, ended, [leftEntries(entries)]);
  };
  if (unclear.length > 0) return left(unclear);
  if (!made) return inProgress(reconcile, undefined, 0, ended);
  if (CHANGING.includes(made.state))
    return clock.now() - Date.parse(pending.startedAt ?? '') < CHANGING_LIMIT
      ? inProgress(reconcile, undefined, CHANGING_REQUEUE)
      : left([made]);
  const replaced = (await client.configEntries.all()).get(status.entryID!);
  if (replaced && !isStillDue(reconcile)) return left([made]);
  hub.recordOwner(resource, made.entry_id); // no other resource adopts it meanwhile
  if (replaced) await removeEntry(client, replaced.entry_id);
  const fields = { adoptedSubentries: null };
  return acquisition.own(reconcile, made, hashesOf(reconcile), fields, reconcile.key, [takenOver(made)]);
}

/** Whether the answers still ask for another entry: otherwise the present one is not removed. */
function isStillDue({ hashes, key, spec, status }: IntegrationReconcile): boolean {
  if (!isComparable(status.configHash, key)) return false;
  if (status.adopted && spec.reconfigure !== 'Recreate') return false;
  const before = withMoves(status.answerHashes ?? {}, hashes);
  return changedAnswers(entryHashes(before), entryHashes(hashes)).length > 0;
}

/** Of the answers that the entry of the trial has. Those that have changed since are applied to it by an update. */
function hashesOf({ hashes, key, status }: IntegrationReconcile): AnswerHashes {
  const now = entryHashes(hashes);
  if (status.pendingFlow?.configHash === recorded(now, key).configHash) return now;
  return Object.fromEntries(Object.entries(now).map(([id, hash]) => [id, `?${hash}`]));
}

function takenOver({ domain, title }: ConfigEntry): EventSpec {
  const message = `The operator was interrupted while it tried the config flow of ${domain}: the entry “${title}” that the flow made takes the place of the former one, which is removed.`;
  return { type: 'Warning', reason: 'EntryRecreated', message };
}
