import type { ConfigEntry, FlowKind } from '../../../client/connection/flow-step';
import type { HubClient } from '../../../client/hub-client';
import { integration as definition } from '../../../kinds';
import type { PendingFlow } from '../../../kinds/integration';
import { defaulted } from '../../../kinds/schema';
import type { EventSpec } from '../../../runtime/event-spec';
import { stalled } from '../../../runtime/outcome';
import { unclearSubentries } from '../flow/problem-text';
import type { IntegrationContext, IntegrationReconcile, IntegrationResource } from '../integration-context';
import { inProgress } from '../progress';
import { desiredTitle, entriesOf, isConfigured } from './adoption';
import { NO_CANDIDATES, candidatesOf, candidateSubentries, type Candidates } from './candidates';

// Handles flows whose end was not observed, since the process was killed or the hub's response did not
// arrive.

/**
 * Ends a flow that may be open in the hub.
 *
 * @returns whether it was open
 */
export async function abortFlow({ flows }: Pick<HubClient, 'flows'>, { kind, flowID }: PendingFlow) {
  return flowID !== undefined && flows.abort((kind ?? 'config') as FlowKind, flowID);
}

/** Ends a flow that creates an entry, and finds the entries that it may have created. */
export async function endCreation(
  resource: IntegrationResource,
  client: HubClient,
  hub: IntegrationContext,
): Promise<Candidates> {
  const { pendingFlow: pending = {}, entryID } = resource.status ?? {};
  const wasOpen = await abortFlow(client, pending);
  const spec = defaulted(definition.spec, resource.spec);
  // No form was answered, so an entry can only have been created by the start of a flow without forms.
  if (pending.flowID === undefined && isConfigured(spec)) return NO_CANDIDATES;
  const present = entriesOf((await client.configEntries.refreshed()).values(), spec.domain);
  const made = present.find(({ entry_id: id }) => id === pending.madeID);
  if (pending.madeID !== undefined) return { ...NO_CANDIDATES, made };
  const free = present.filter(({ entry_id: id }) => id !== entryID && !hub.ownerOf(id, resource));
  const offset = client.rest.clockOffset;
  return candidatesOf(pending, free, { wasOpen, offset, title: desiredTitle(spec) });
}

/** States in which an entry is being set up or removed, so that its final state is not known yet. */
const CHANGING = ['setup_in_progress', 'unload_in_progress'];

/**
 * Ensures that the entry of an interrupted flow is in the state that a completed flow would have left. When
 * the connection closes, the hub cancels the set-up and has the entry only in memory. The entry is disabled
 * and enabled once, so that the hub loads and saves it.
 *
 * @returns false when this is not done yet
 */
export async function isCompleted(
  { configEntries }: HubClient,
  { entry_id: id, state, reason, disabled_by: disabledBy }: ConfigEntry,
): Promise<boolean> {
  if (CHANGING.includes(state)) return false;
  const isCut = state === 'not_loaded' || (state === 'setup_error' && reason === null);
  if (disabledBy === null && !isCut) return true;
  if (disabledBy === null) await configEntries.setEnabled(id, false);
  await configEntries.setEnabled(id, true);
  return true;
}

/**
 * Ends the flow of an update. If the flow may have created a subentry, it is not created again until a user
 * has said whose it is.
 */
export async function endUpdate(reconcile: IntegrationReconcile, entry: ConfigEntry, pending: PendingFlow) {
  const { answers, client, context } = reconcile;
  const ended = () => inProgress(reconcile, undefined, 0, { pendingFlow: null });
  const wasOpen = await abortFlow(client, pending);
  const { type, title, replaces } = pending.subentry ?? {};
  if (wasOpen || type === undefined || title === undefined || context.forced) return ended();
  const desired = answers.subentries?.find((each) => each.type === type && each.title === title);
  // No form was answered, so a subentry can only have been created by the start of a flow without forms.
  if (pending.flowID === undefined && desired && desired.answers.length > 0) return ended();
  const present = await client.configEntries.subentries(entry.entry_id);
  const candidates = candidateSubentries(pending, present, client.rest.clockOffset);
  const isReplacement = present.some(({ subentry_id: id }) => id === replaces);
  // A subentry of that type and title is adopted, as if a user had created it.
  const isNamed = candidates.some((each) => each.title === title);
  if (candidates.length === 0 || (isNamed && !isReplacement)) return ended();
  return stalled('ConfigFlowFailed', unclearSubentries(entry, { type, title }, candidates, isReplacement));
}

/** The event about entries that no resource takes, since either the flow or a user may have created them. */
export function leftEntries(entries: readonly ConfigEntry[]): EventSpec {
  const titles = entries.map(({ title }) => `“${title}”`).join(', ');
  const [{ domain } = { domain: '' }] = entries;
  const message = `The operator was interrupted in a config flow of ${domain}. The hub has these entries since then: ${titles}. The flow or a person made them, so they are not touched: remove in the hub those that you do not need.`;
  return { type: 'Warning', reason: 'ConfigFlowFailed', message };
}
