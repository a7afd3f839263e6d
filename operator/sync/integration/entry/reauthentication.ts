import type { ConfigEntry } from '../../../client/connection/flow-step';
import { type Outcome, stalled } from '../../../runtime/outcome';
import { answerFlow, isSuccess, problemOf } from '../flow/run';
import type { IntegrationReconcile } from '../integration-context';
import { configurationFailed, noneApplied, type FlowOperation, type OperationResult } from '../operation';
import { inProgress, startOperation } from '../progress';

// Answers flows by which the hub asks for new credentials of an entry. A user may answer such a flow in the
// hub's UI too.

/**
 * The outcome while a user has to answer the flow.
 *
 * @returns undefined when the answers of the spec have not been tried
 */
export function awaitsPerson({ cached, configHash }: IntegrationReconcile, flowId: string) {
  const { confirmation } = cached;
  return confirmation?.key === confirmationKey(flowId, configHash)
    ? stalled('AuthNeeded', confirmation.message)
    : undefined;
}

/** Answers the flow with the present answers. */
export function reauthenticate(reconcile: IntegrationReconcile, flowId: string): Outcome {
  if (reconcile.draining) return inProgress(reconcile, undefined);
  const operation = startOperation(reconcile, 'reauth', (started) => answer(reconcile, flowId, started));
  return inProgress(reconcile, operation);
}

/**
 * Answers a form only if it asks for an answer of the spec. A form that only asks for a confirmation needs a
 * decision: it may accept another device, or send a code to a user. Such a flow stays open for a user.
 */
async function answer(
  reconcile: IntegrationReconcile,
  flowId: string,
  operation: FlowOperation,
): Promise<OperationResult> {
  const { answers, cached, client, configHash, spec, hashes } = reconcile;
  const step = await client.flows.read('config', flowId);
  const given = {
    steps: answers.steps,
    fields: [...answers.configuration, ...(answers.options ?? [])],
    ofEntry: { choices: new Set<string>(), mustAskFor: new Set(Object.keys(hashes)) },
  };
  const end = await answerFlow(client, 'config', step, given, operation.hooks(), true);
  if (isSuccess(end)) return { type: 'applied', applied: noneApplied(end.navigator.used) };
  const problem = problemOf(end);
  if (problem.kind === 'unasked') {
    const message = `The hub asks a person to confirm the step ${problem.step} for the ${spec.domain} entry: answer its request in its UI.`;
    cached.confirmation = { key: confirmationKey(flowId, configHash), message };
  }
  return configurationFailed(reconcile, problem);
}

const confirmationKey = (flowId: string, configHash: string): string => `${flowId} ${configHash}`;

/** The message about a request that the answers of the spec did not satisfy. */
export const reauthFailed = ({ domain, title }: ConfigEntry, why: string): string =>
  `The ${domain} entry “${title}” needs other credentials: change them in the Secret, or answer the hub’s request in its UI. ${why}`;
