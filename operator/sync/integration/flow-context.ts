import type { HubClient } from '../../client/hub-client';
import type { Clock } from '../../clock';
import type { HubIntegrationSpec, HubIntegrationStatus } from '../../kinds/integration';
import type { AnswerHashes } from './answer-hashes';
import type { Answer, Answers } from './answers';
import type { FlowAnswers, FlowProblem } from './flow/navigator';
import type { FlowEnd } from './flow/run';

/** The inputs of the flows of one resource. */
export interface FlowContext {
  readonly client: HubClient;
  readonly clock: Clock;
  readonly spec: HubIntegrationSpec;
  /** When the flows started. */
  readonly status: HubIntegrationStatus;
  readonly answers: Answers;
  /** Of the present answers. */
  readonly hashes: AnswerHashes;
  /** Lets no other flow of the domain make an entry meanwhile. False: one is at it. */
  readonly acquireDomain: () => boolean;
}

/** A reconfiguration ends with an abort, too. */
export function isSuccess(end: FlowEnd): boolean {
  return end.type === 'created' || (end.type === 'aborted' && /_success(ful)?$/.test(end.problem.key ?? ''));
}

export function problemOf(end: FlowEnd): FlowProblem {
  return 'problem' in end ? end.problem : { kind: 'answers' };
}

/** A flow of an entry that exists has other steps than the one that made it. */
export function lenient({ steps }: Answers, fields: readonly Answer[]): FlowAnswers {
  return { steps, fields, lenient: true };
}

/** Ids of the answers that a flow used. */
export const usedIds = ({ navigator }: FlowEnd): readonly string[] => [...navigator.used];
