import type { ConfigEntry } from '../../../client/connection/flow-step';
import type { PendingFlow } from '../../../kinds/integration';
import { allAnswers } from '../answers';
import { type FlowEnd, runFlow, SUCCESS } from '../flow/run';
import { type IntegrationReconcile, MOMENT } from '../integration-context';
import { configurationFailed, noneApplied, type FlowOperation, type OperationResult } from '../operation';
import { entriesOf, idsOfDomain } from './adoption';
import { entryHash } from './status';

/** Creates an entry by the flow of its integration. */
export async function createEntry(
  reconcile: IntegrationReconcile,
  operation: FlowOperation,
): Promise<OperationResult> {
  const { client, entries, spec } = reconcile;
  const before = new Map([...entries].map(([id, entry]) => [id, entry.modified_at]));
  const result = created(reconcile, await run(reconcile, operation, {}));
  if (result.type !== 'failed' || !SUCCESS.test(result.problem.key ?? '')) return result;
  const after = entriesOf((await client.configEntries.refreshed()).values(), spec.domain);
  const changed = after.filter(({ entry_id: id, modified_at: at }) => before.get(id) !== at);
  return { ...result, changed: changed.map(({ entry_id: id }) => id) };
}

/**
 * Runs the flow of the integration for changed answers that no form of the entry accepts, while the entry
 * still exists. If the flow creates a second entry, it replaces the first. If the flow aborts because of the
 * existing entry, the answers are valid: either the entry now has them, or it has to be removed before the
 * flow runs again. After any other end, the entry stays.
 */
export async function runAgain(
  reconcile: IntegrationReconcile,
  entry: ConfigEntry,
  changed: readonly string[],
  operation: FlowOperation,
): Promise<OperationResult> {
  const { client, clock, hub, resource, spec } = reconcile;
  const { signal, sent } = operation;
  while (hub.acquireDomain(resource)) await clock.sleep(MOMENT, signal);
  const before = await client.configEntries.refreshed();
  const { modified_at: modifiedAt } = before.get(entry.entry_id) ?? entry;
  const others = entriesOf(before.values(), spec.domain).length - 1;
  const pending = {
    entryIDs: idsOfDomain(before.values(), spec.domain),
    configHash: entryHash(sent.hashes, sent.key),
  };
  await operation.record(pending);
  const end = await run(reconcile, operation, pending);
  const result = created(reconcile, end);
  if (result.type === 'created') {
    const unused = result.unused.filter((id) => changed.includes(id));
    // The hub itself replaces an entry with the same unique id. If the former entry is gone, the new one has
    // to stay.
    const isReplaced = !(await client.configEntries.refreshed()).has(entry.entry_id);
    if (unused.length === 0 || isReplaced) return result;
    await client.configEntries.remove(result.entry.entry_id);
    const text = `no form asks for ${unused.join(', ')}: remove it or correct its name`;
    return configurationFailed(reconcile, { kind: 'answers', text });
  }
  const key = end.type === 'aborted' ? (end.problem.key ?? '') : '';
  if (!SUCCESS.test(key) && !/^(already_configured|single_instance)/.test(key)) return result;
  const after = (await client.configEntries.refreshed()).get(entry.entry_id);
  const isUpdated = after?.modified_at !== modifiedAt || (SUCCESS.test(key) && others === 0);
  if (after && isUpdated) return { type: 'applied', applied: noneApplied(changed) };
  return recreation(reconcile, others, changed);
}

/** The result when changed answers are valid, but only a new entry can get them. */
function recreation(
  reconcile: IntegrationReconcile,
  others: number,
  changed: readonly string[],
): OperationResult {
  // Many integrations search for the device before they try a password, so the abort does not prove that a
  // secret is valid.
  const hasSecret = allAnswers(reconcile.answers).some(
    ({ id, isSecret }) => isSecret && changed.includes(id),
  );
  if (others === 0 && !hasSecret) return { type: 'recreate', changed };
  const why =
    others > 0 ? 'the hub has other entries of this integration' : 'a value of a Secret may be wrong';
  const text = `the new ${changed.join(', ')} cannot be tried while the entry is there, and ${why}: take the change back, or remove the entry in the hub to have it created again`;
  return { ...configurationFailed(reconcile, { kind: 'answers', text }), reason: 'RecreateRequired' };
}

function run(
  { answers, client, spec }: IntegrationReconcile,
  operation: FlowOperation,
  pending: Pick<PendingFlow, 'entryIDs' | 'configHash'>,
): Promise<FlowEnd> {
  return runFlow(
    client,
    { kind: 'config', domain: spec.domain },
    { steps: answers.steps, fields: answers.configuration },
    operation.hooks(pending),
  );
}

function created(reconcile: IntegrationReconcile, end: FlowEnd): OperationResult {
  if (end.type !== 'created') return configurationFailed(reconcile, end.problem);
  const { entry, navigator } = end;
  if (entry)
    return {
      type: 'created',
      entry,
      unused: navigator.unused.map(({ id }) => id),
      unshown: navigator.unshown,
    };
  const text = 'the hub did not show the entry that it made';
  return configurationFailed(reconcile, { kind: 'answers', text });
}
