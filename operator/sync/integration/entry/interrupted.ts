import type { ConfigEntry, FlowKind } from '../../../client/flow-step';
import type { HubClient } from '../../../client/hub-client';
import type { PendingFlow } from '../../../kinds/integration';
import { isComparable, recorded, subentryId } from '../answer-hashes';
import type { IntegrationReconcile } from '../integration-reconcile';

/** Ends a flow that a process left open. Resolves with whether it was still open. */
export async function abortFlow(
  { flows }: Pick<HubClient, 'flows'>,
  { kind, flowID }: PendingFlow,
): Promise<boolean> {
  return flowID !== undefined && flows.abort((kind ?? 'config') as FlowKind, flowID);
}

/**
 * Ends the flow of an update that a process did not finish, and finishes the subentry that it made, so that none is made
 * twice. Resolves with the fields of status.
 */
export async function endInterrupted(
  { client, key, status }: IntegrationReconcile,
  { entry_id: entryId }: ConfigEntry,
  pending: PendingFlow,
): Promise<Readonly<Record<string, unknown>>> {
  const ended = { pendingFlow: null };
  const wasOpen = await abortFlow(client, pending);
  const { type, title, hash, replaces, subentryIDs = [] } = pending.subentry ?? {};
  if (wasOpen || type === undefined || title === undefined || hash === undefined) return ended;
  const present = await client.configEntries.subentries(entryId);
  const isNew = (id: string) => !subentryIDs.includes(id);
  const [made, ...others] = present.filter((each) => each.subentry_type === type && isNew(each.subentry_id));
  if (!made || others.length > 0) return ended; // any of several may be a person's
  if (made.title !== title) await client.configEntries.setSubentryTitle(entryId, made.subentry_id, title);
  if (replaces !== undefined) await client.configEntries.removeSubentry(entryId, replaces);
  if (!isComparable(status.configHash, key)) return ended;
  return { ...ended, ...recorded({ ...status.answerHashes, [subentryId({ type, title })]: hash }, key) };
}
