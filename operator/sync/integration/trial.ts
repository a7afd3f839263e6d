import type { FlowProblem } from './flow-navigator';
import { runFlow } from './flow-run';
import { type FlowWork, problemOf } from './flow-work';
import type { Operation } from './operation';

/** The integration allows no second entry beside the present one, so that its flow cannot be tried. */
const HAS_ENTRY = /^(already_|single_instance)/;

/**
 * Tries the flow that is to create an entry again, up to its last form, so that a mistake is found while the entry is still
 * there. Undefined: none was found.
 *
 * @param unconfirmed ids of answers that no form of the present entry has: one that the trial does not ask for either is a
 * mistake, even if the hub does not say that no further form follows
 */
export async function trialProblem(
  { answers, client, clock, spec }: FlowWork,
  unconfirmed: readonly string[],
  operation: Operation,
): Promise<FlowProblem | undefined> {
  const onOpen = (flowID: string) => operation.open({ kind: 'config', flowID });
  const end = await runFlow(
    client,
    { kind: 'config', domain: spec.domain },
    { steps: answers.steps, fields: answers.configuration },
    { clock, signal: operation.signal, onOpen, isTrial: true },
  );
  // A flow without a question has made a second entry.
  if (end.type === 'created' && end.entry) await client.configEntries.remove(end.entry.entry_id);
  const isProblem = end.type === 'failed' || end.type === 'aborted';
  if (isProblem && !HAS_ENTRY.test(end.problem.key ?? '')) return problemOf(end);
  const unknown = unconfirmed.filter((id) => !end.navigator.used.has(id));
  if (unknown.length === 0) return undefined;
  const text =
    `no form asks for ${unknown.join(', ')}: remove it, correct its name, or set spec.reconfigure to Recreate to have ` +
    'the entry removed and created again';
  return { kind: 'answers', text };
}
