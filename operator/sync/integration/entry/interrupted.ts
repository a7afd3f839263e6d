import type { ConfigEntry, FlowKind } from '../../../client/connection/flow-step';
import type { HubClient } from '../../../client/hub-client';
import { integration as definition } from '../../../kinds';
import type { PendingFlow } from '../../../kinds/integration';
import { defaulted } from '../../../kinds/schema';
import type { EventSpec } from '../../../runtime/event-spec';
import { isComparable, recorded, subentryId } from '../answer-hashes';
import type { HubContext, IntegrationReconcile, IntegrationResource } from '../hub-context';
import { desiredTitle, entriesMadeBy, entriesOf, isWithin } from './adoption';

// A flow whose end was not observed: the process was killed, or the hub's response did not arrive.

/** Ends a flow that may be open in the hub. Resolves with whether it was. */
export async function abortFlow({ flows }: Pick<HubClient, 'flows'>, { kind, flowID }: PendingFlow) {
  return flowID !== undefined && flows.abort((kind ?? 'config') as FlowKind, flowID);
}

/** Ends a flow that makes an entry, and finds it. `unclear`: the flow may have made one of them, and a person any. */
export async function endCreation(resource: IntegrationResource, client: HubClient, hub: HubContext) {
  const pending = resource.status!.pendingFlow!;
  const wasOpen = await abortFlow(client, pending);
  const spec = defaulted(definition.spec, resource.spec);
  const present = entriesOf((await client.configEntries.refreshed()).values(), spec.domain);
  // The flow ends when its entry is set up: while it is open, a person made an entry that is loaded.
  const free = present.filter(
    ({ entry_id: id, state }) =>
      id !== resource.status!.entryID && !hub.ownerOf(id, resource) && !(wasOpen && state === 'loaded'),
  );
  const { made: found, others } = entriesMadeBy(pending, free, desiredTitle(spec));
  const [made, ...more] = found;
  return made && more.length === 0 ? { made, unclear: others } : { unclear: [...found, ...others] };
}

/** States in which an entry is set up or removed: what comes of it shows whether it stays. */
const CHANGING = ['setup_in_progress', 'unload_in_progress'];

/**
 * Whether the entry of an interrupted flow is as the hub would have left it after the flow. The hub cancels its set-up when
 * the connection closes, and has such an entry only in memory: it is disabled and enabled once, by which the hub loads and
 * saves it. False: not yet.
 */
export async function isCompleted(
  { configEntries }: HubClient,
  { entry_id: id, state, reason, disabled_by: disabledBy }: ConfigEntry,
): Promise<boolean> {
  if (CHANGING.includes(state)) return false;
  const isCut = state === 'setup_error' && reason === null;
  if (disabledBy === null && !isCut) return true;
  if (disabledBy === null) await configEntries.setEnabled(id, false);
  await configEntries.setEnabled(id, true);
  return true;
}

/**
 * Ends the flow of an update, and finishes the subentry that it made, so that none is made twice. Resolves with the fields
 * of status.
 */
export async function endUpdate(
  { client, key, status }: IntegrationReconcile,
  { entry_id: entryId }: ConfigEntry,
  pending: PendingFlow,
): Promise<Readonly<Record<string, unknown>>> {
  const ended = { pendingFlow: null };
  const wasOpen = await abortFlow(client, pending);
  const { type, title, hash, replaces, subentryIDs = [] } = pending.subentry ?? {};
  if (wasOpen || type === undefined || title === undefined || hash === undefined) return ended;
  const present = await client.configEntries.subentries(entryId);
  const isNew = (id: string) => !subentryIDs.includes(id) && isWithin(pending, timeOf(id));
  const [made, ...others] = present.filter((each) => each.subentry_type === type && isNew(each.subentry_id));
  if (!made || others.length > 0) return ended; // any of several may be a person's
  if (made.title !== title) await client.configEntries.setSubentryTitle(entryId, made.subentry_id, title);
  if (replaces !== undefined) await client.configEntries.removeSubentry(entryId, replaces);
  if (!isComparable(status.configHash, key)) return ended;
  return { ...ended, ...recorded({ ...status.answerHashes, [subentryId({ type, title })]: hash }, key) };
}

const ULID = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** The time with which the id of a subentry begins, in seconds since 1970. */
const timeOf = (id: string): number =>
  [...id.slice(0, 10)].reduce((time, digit) => time * ULID.length + ULID.indexOf(digit), 0) / 1_000;

/** Entries that no resource takes: the flow may have made one of them, and a person may have. */
export function leftEntries(entries: readonly ConfigEntry[]): EventSpec {
  const titles = entries.map(({ title }) => `“${title}”`).join(', ');
  const [{ domain } = { domain: '' }] = entries;
  const message = `The operator was interrupted in a config flow of ${domain}. The hub has these entries since then: ${titles}. The flow or a person made them, so they are not touched: remove in the hub those that you do not need.`;
  return { type: 'Warning', reason: 'ConfigFlowFailed', message };
}
