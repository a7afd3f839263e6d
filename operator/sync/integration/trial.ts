import { recorded } from './answer-hashes';
import { removeEntry } from './entry-removal';
import type { FlowProblem } from './flow/navigator';
import { runFlow } from './flow/run';
import { type FlowContext, problemOf } from './flow-context';
import { DOMAIN_BUSY_REQUEUE } from './hub-context';
import type { Operation } from './operation';
import { entryHashes } from './entry/status-fields';

/** The integration allows no second entry beside the present one, so that its flow cannot be tried. */
const HAS_ENTRY = /^(already_|single_instance)/;

/**
 * Tries the flow that is to create an entry again, up to its last form, so that a mistake is found while the entry is still
 * there. Undefined: none was found. Status has the entries of the domain before the flow starts: after a crash, the next
 * process finds the one that it made (interrupted-trial.ts).
 *
 * @param unconfirmed ids of answers that no form of the present entry has: one that the trial does not ask for either is a
 * mistake, even if the hub does not say that no further form follows
 */
export async function trialProblem(
  { acquireDomain, answers, client, clock, spec }: FlowContext,
  unconfirmed: readonly string[],
  operation: Operation,
): Promise<FlowProblem | undefined> {
  const { signal, sent } = operation;
  while (!acquireDomain()) await clock.sleep(DOMAIN_BUSY_REQUEUE, signal);
  const entries = [...(await client.configEntries.refreshed()).values()];
  const pending = {
    kind: 'config',
    entryIDs: entries.filter(({ domain }) => domain === spec.domain).map(({ entry_id: id }) => id),
    configHash: recorded(entryHashes(sent.hashes), sent.key).configHash,
  };
  await operation.record(pending);
  const onOpen = (flowID: string) => operation.record({ ...pending, flowID });
  const end = await runFlow(
    client,
    { kind: 'config', domain: spec.domain },
    { steps: answers.steps, fields: answers.configuration },
    { clock, signal, onOpen, isTrial: true },
  );
  // A flow without a question has made a second entry.
  if (end.type === 'created' && end.entry) await removeEntry(client, end.entry.entry_id);
  const isProblem = end.type === 'failed' || end.type === 'aborted';
  if (isProblem && !HAS_ENTRY.test(end.problem.key ?? '')) return problemOf(end);
  const unknown = unconfirmed.filter((id) => !end.navigator.used.has(id));
  if (unknown.length === 0) return undefined;
  const text =
    `no form asks for ${unknown.join(', ')}: remove it, correct its name, or set spec.reconfigure to Recreate to have ` +
    'the entry removed and created again';
  return { kind: 'answers', text };
}
