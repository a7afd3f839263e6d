import { FormRejected, type FlowRequest } from '../../../client/config-flows';
import { HubUnreachable, NotFound } from '../../../client/errors';
import type { ConfigEntry, FlowStep } from '../../../client/flow-step';
import type { HubClient } from '../../../client/hub-client';
import type { Clock } from '../../../clock';
import { type FlowAnswers, FlowNavigator, type FlowProblem } from './navigator';
import type { Upload } from './form-answers';

/** How a flow ended. */
export type FlowEnd = (
  | { readonly type: 'created'; readonly entry?: ConfigEntry | undefined }
  | { readonly type: 'aborted'; readonly problem: FlowProblem }
  | { readonly type: 'failed'; readonly problem: FlowProblem }
  /** Given up before an answer that may end it (`FlowHooks.isTrial`). */
  | { readonly type: 'stopped' }
) & { readonly navigator: FlowNavigator };

export interface FlowHooks {
  readonly clock: Clock;
  /** Aborted: the flow is given up before its next request. */
  readonly signal: AbortSignal;
  /** Called once, before the first answer is sent. */
  readonly onOpen?: (flowId: string) => Promise<void>;
  /** True: the answers of a form are sent only if the hub says that another form follows. */
  readonly isTrial?: boolean;
}

/** Between two looks at a step on which the hub works. */
const PROGRESS_POLL = 1_000;
/** A step on which the hub works for longer is given up. */
const PROGRESS_LIMIT = 10 * 60_000;

/**
 * Runs a flow from its first step to its end. No flow stays open in the hub, also after an error.
 *
 * @throws HubError the hub did not answer, failed or rejected the start; what `signal` was aborted with
 */
export async function runFlow(
  client: Pick<HubClient, 'flows'>,
  request: FlowRequest,
  answers: FlowAnswers,
  hooks: FlowHooks,
): Promise<FlowEnd> {
  hooks.signal.throwIfAborted();
  const step = await client.flows.start(request);
  return answerFlow(client, request.kind, step, answers, hooks);
}

/**
 * Answers a flow that is open, from the step that it shows.
 *
 * @param keepOpen the hub started the flow: it stays for a person if it is not ended by the answers
 */
export async function answerFlow(
  { flows }: Pick<HubClient, 'flows'>,
  kind: FlowRequest['kind'],
  first: FlowStep,
  answers: FlowAnswers,
  hooks: FlowHooks,
  keepOpen = false,
): Promise<FlowEnd> {
  const { clock, signal, onOpen, isTrial = false } = hooks;
  const navigator = new FlowNavigator(answers);
  const { flow_id: flowId } = first;
  const startedAt = clock.monotonic();
  let step = first;
  let isOpen = !isEnd(first);
  try {
    if (isOpen) await onOpen?.(flowId);
    for (;;) {
      const move = navigator.next(step);
      switch (move.type) {
        case 'created':
        case 'aborted':
        case 'failed':
          return { ...move, navigator };
        case 'submit': {
          if (isTrial && step.type === 'form' && step.last_step !== false)
            return { type: 'stopped', navigator };
          signal.throwIfAborted();
          const data = await withUploads(flows, move.data, move.uploads);
          signal.throwIfAborted();
          try {
            step = await flows.submit(kind, flowId, data);
          } catch (error) {
            if (!(error instanceof FormRejected)) throw ended(error);
            return { type: 'failed', problem: formProblem(step, error), navigator };
          }
          break;
        }
        case 'wait':
          if (clock.monotonic() - startedAt > PROGRESS_LIMIT) {
            const problem = {
              kind: 'answers',
              step: stepOf(step),
              text: 'the hub works on the step for too long',
            } as const;
            return { type: 'failed', problem, navigator };
          }
          await clock.sleep(PROGRESS_POLL, signal);
          step = await flows.read(kind, flowId);
          break;
        case 'read':
          step = await flows.read(kind, flowId);
          break;
      }
      isOpen = !isEnd(step);
    }
  } finally {
    if (isOpen && !keepOpen) await abortIfReachable(flows, kind, flowId);
  }
}

/** A hub that does not answer may keep the flow until its restart; the error or the result of the flow counts more. */
async function abortIfReachable(
  flows: HubClient['flows'],
  kind: FlowRequest['kind'],
  flowId: string,
): Promise<void> {
  try {
    await flows.abort(kind, flowId);
  } catch (error) {
    if (!(error instanceof HubUnreachable)) throw error;
  }
}

/** The hub forgets its flows when it restarts. */
function ended(error: unknown): unknown {
  return error instanceof NotFound
    ? new HubUnreachable('the hub no longer has the flow, as after a restart')
    : error;
}

const isEnd = ({ type }: FlowStep): boolean => type === 'create_entry' || type === 'abort';

const stepOf = (step: FlowStep): string | undefined => ('step_id' in step ? step.step_id : undefined);

/** Why the hub rejected the answers to a step. */
export function formProblem(step: FlowStep, { errors }: FormRejected): FlowProblem {
  const [[field, text] = ['base', 'the answers do not fit']] = Object.entries(errors);
  return { kind: 'answers', step: stepOf(step), field: field === 'base' ? undefined : field, text };
}

/** The data of a form with the ids of its files, which are uploaded before. */
export async function withUploads(
  flows: HubClient['flows'],
  data: object,
  uploads: readonly Upload[],
): Promise<object> {
  const filled = structuredClone(data) as Record<string, unknown>;
  for (const { path, file } of uploads) {
    const id = await flows.upload(file.content, file.fileName);
    const parent = path.slice(0, -1).reduce((object, key) => object[key] as Record<string, unknown>, filled);
    parent[path.at(-1)!] = id;
  }
  return filled;
}
