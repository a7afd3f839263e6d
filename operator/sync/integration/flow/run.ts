import { FormRejected, type FlowRequest } from '../../../client/entries/config-flows';
import { HubFailed, HubUnreachable, NotFound } from '../../../client/connection/errors';
import type { ConfigEntry, FlowStep } from '../../../client/connection/flow-step';
import type { HubClient } from '../../../client/hub-client';
import type { Clock } from '../../../base/clock';
import { messageOf } from '../../../base/errors';
import { FLOW_LIMIT } from '../../../base/limits';
import { type FlowAnswers, FlowNavigator, type FlowProblem, isUnsure, type StepRequest } from './navigator';
import type { Upload } from '../../../client/entries/forms/fill-form';

/** The end of a flow. */
export type FlowEnd = (
  | { readonly type: 'created'; readonly entry?: ConfigEntry | undefined }
  | { readonly type: 'aborted' | 'failed'; readonly problem: FlowProblem }
) & { readonly navigator: FlowNavigator };

/** Reports whether the flow succeeded. A flow that changes an entry may end with an abort then. */
export function isSuccess(end: FlowEnd): boolean {
  return end.type === 'created' || (end.type === 'aborted' && SUCCESS.test(end.problem.key ?? ''));
}

/** Abort keys of a flow that changed an entry: `reconfigure_successful`, `reauth_successful`. */
export const SUCCESS = /_success(ful)?$/;

export function problemOf(end: FlowEnd): FlowProblem {
  return 'problem' in end ? end.problem : { kind: 'answers' };
}

export interface FlowHooks {
  readonly clock: Clock;
  /** When aborted, the flow is cancelled before its next request. */
  readonly signal: AbortSignal;
  /**
   * Called before each answer is sent.
   *
   * @throws the reason why the flow is cancelled
   */
  readonly assertDesired: () => void;
  /** Called once, before the first answer is sent, so that a later process can end the flow. */
  readonly onOpen?: (flowId: string) => Promise<void>;
}

/** Milliseconds between two reads of a step on which the hub works. */
const PROGRESS_POLL = 1_000;

/**
 * Runs a flow from its first step to its end. No flow stays open in the hub, even after an error.
 *
 * @throws HubError the hub did not answer the start, failed or rejected it; or the reason with which `signal`
 * was aborted
 */
export async function runFlow(
  client: Pick<HubClient, 'flows'>,
  request: FlowRequest,
  answers: FlowAnswers,
  hooks: FlowHooks,
): Promise<FlowEnd> {
  hooks.assertDesired();
  const step = await client.flows.start(request);
  return answerFlow(client, request.kind, step, answers, hooks);
}

/**
 * Answers an open flow, starting with the given step.
 *
 * @param keepOpen the hub started the flow; if the answers do not end it, it stays open for a user
 */
export async function answerFlow(
  { flows }: Pick<HubClient, 'flows'>,
  kind: FlowRequest['kind'],
  first: FlowStep,
  answers: FlowAnswers,
  hooks: FlowHooks,
  keepOpen = false,
): Promise<FlowEnd> {
  const { clock, onOpen } = hooks;
  const navigator = new FlowNavigator(answers);
  const flow: OpenFlow = { flows, kind, flowId: first.flow_id };
  const startedAt = clock.monotonic();
  let step = first;
  let isOpen = !isEnd(first);
  try {
    if (isOpen) await onOpen?.(flow.flowId);
    for (;;) {
      const move = navigator.next(step);
      const isOverdue = clock.monotonic() - startedAt > FLOW_LIMIT;
      if (isOverdue && (move.type === 'submit' || move.type === 'wait'))
        return { type: 'failed', problem: { ...tooSlow, step: stepOf(step) }, navigator };
      if (move.type === 'created' || 'problem' in move) return { ...move, navigator };
      step = await nextStep(flow, move, hooks);
      isOpen = !isEnd(step);
    }
  } catch (error) {
    const problem = lostAnswer(error, step);
    if (!problem) throw error;
    // The record of the flow in status makes the next reconcile end it, which also shows whether it was still
    // open.
    if (onOpen && isUnsure(problem)) isOpen = false;
    return { type: 'failed', problem: { ...problem, withSecret: navigator.withSecret }, navigator };
  } finally {
    if (isOpen && !keepOpen) await abort(flow);
  }
}

interface OpenFlow {
  readonly flows: HubClient['flows'];
  readonly kind: FlowRequest['kind'];
  readonly flowId: string;
}

async function nextStep(
  { flows, kind, flowId }: OpenFlow,
  request: StepRequest,
  { assertDesired, clock, signal }: FlowHooks,
): Promise<FlowStep> {
  if (request.type === 'submit') {
    assertDesired();
    const data = await withUploads(flows, request.data, request.uploads);
    assertDesired();
    return flows.submit(kind, flowId, data);
  }
  if (request.type === 'wait') await clock.sleep(PROGRESS_POLL, signal);
  return flows.read(kind, flowId);
}

/** Ends a flow in the hub. A hub that does not respond may keep it until its restart. */
async function abort({ flows, kind, flowId }: OpenFlow): Promise<void> {
  await flows.abort(kind, flowId).catch((error: unknown) => {
    // The error or result of the flow is more important.
    if (!(error instanceof HubUnreachable)) throw error;
  });
}

const tooSlow: FlowProblem = { kind: 'error', text: 'the hub works on the step for too long' };

/**
 * The problem of an answer to which the hub did not respond normally.
 *
 * @returns undefined when the answer was not sent
 */
function lostAnswer(error: unknown, step: FlowStep): FlowProblem | undefined {
  if (error instanceof FormRejected) return formProblem(step, error);
  const at = { step: stepOf(step) };
  if (error instanceof HubUnreachable)
    return { ...at, kind: 'lost', text: `the hub did not respond to the answer: ${error.message}` };
  if (error instanceof NotFound)
    return { ...at, kind: 'lost', text: 'the hub no longer has the flow, as after a restart' };
  if (error instanceof HubFailed)
    return { ...at, kind: 'failed', text: `the hub failed: ${messageOf(error)}` };
  return undefined;
}

const isEnd = ({ type }: FlowStep): boolean => type === 'create_entry' || type === 'abort';

const stepOf = (step: FlowStep): string | undefined => ('step_id' in step ? step.step_id : undefined);

/** The reason why the hub rejected the answers to a step. */
export function formProblem(step: FlowStep, { errors }: FormRejected): FlowProblem {
  const [[field, text] = ['base', 'the answers do not fit']] = Object.entries(errors);
  return { kind: 'answers', step: stepOf(step), field: field === 'base' ? undefined : field, text };
}

/** The data of a form, in which each file is replaced by the id of its upload. */
export async function withUploads(flows: HubClient['flows'], data: object, uploads: readonly Upload[]) {
  const filled = structuredClone(data) as Record<string, unknown>;
  for (const { path, file } of uploads) {
    const id = await flows.upload(file.content, file.fileName);
    const parent = path.slice(0, -1).reduce((object, key) => object[key] as Record<string, unknown>, filled);
    parent[path.at(-1)!] = id;
  }
  return filled;
}
