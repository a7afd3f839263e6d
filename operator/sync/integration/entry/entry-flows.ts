import { removeEntry } from '../entry-removal';
import { answerFlow, runFlow } from '../flow/run';
import { type FlowContext, isSuccess, lenient, problemOf, usedIds } from '../flow-context';
import { type Operation, type OperationResult, withoutSubentries } from '../operation';
import type { FlowProblem } from '../flow/navigator';
import type { FlowName } from '../flow/problem-text';

/**
 * Creates an entry.
 *
 * @param replaces the entry that is removed before
 */
export async function createEntry(
  flowContext: FlowContext,
  replaces: string | undefined,
  operation: Operation,
): Promise<OperationResult> {
  const { client, clock, spec, answers } = flowContext;
  if (replaces !== undefined) await removeEntry(client, replaces);
  const flow: FlowName = { kind: 'config', domain: spec.domain };
  const end = await runFlow(
    client,
    { kind: 'config', domain: spec.domain },
    { steps: answers.steps, fields: answers.configuration },
    { clock, signal: operation.signal, onOpen: (flowID) => operation.record({ flowID }) },
  );
  if (end.type !== 'created') return failure(flow, problemOf(end));
  if (end.entry)
    return { type: 'created', entry: end.entry, unused: end.navigator.unused.map(({ id }) => id) };
  return failure(flow, { kind: 'answers', text: 'the hub did not show the entry that it made' });
}

/** Answers the flow by which the hub asks for other credentials. It stays open for a person if that fails. */
export async function reauthenticate(
  flowContext: FlowContext,
  flowId: string,
  operation: Operation,
): Promise<OperationResult> {
  const { client, clock, spec, answers } = flowContext;
  const step = await client.flows.read('config', flowId);
  const hooks = { clock, signal: operation.signal };
  const fields = [...answers.configuration, ...(answers.options ?? [])];
  const end = await answerFlow(client, 'config', step, lenient(answers, fields), hooks, true);
  const flow: FlowName = { kind: 'config', domain: spec.domain };
  if (isSuccess(end)) return { type: 'applied', applied: withoutSubentries(new Set(usedIds(end))) };
  return failure(flow, problemOf(end));
}

function failure(flow: FlowName, problem: FlowProblem): OperationResult {
  return { type: 'failed', flow, problem, applied: withoutSubentries(new Set()) };
}
