import type { Hub } from '../../kinds';
import type { Outcome } from '../../runtime/outcome';
import { isSameContent } from '../hub-pod/content-hashes';
import type { Outcomes } from './conditions';
import type { Situation } from './decide';
import type { DesiredContent, RunningHub } from './load/running-content';

export interface UnusableHub {
  readonly hub: Hub | undefined;
  /** The outcome that says why the hub cannot be used, with its status fields. */
  readonly unusable: Outcome;
}

/** The inputs of a step. */
export interface Work extends Situation, DesiredContent {
  readonly outcomes: Outcomes;
}

export type UsableWork = Work & RunningHub;
export type UnusableWork = Work & UnusableHub;

/**
 * The reason why the desired content was rejected, as reported by the pod or the hub.
 *
 * @returns undefined when it was not rejected
 */
export function rejectionOf({ content, observed, record }: Work): string | undefined {
  return [observed.pod?.rejected, record?.rejected].find((each) =>
    isSameContent(each?.marker, content.marker),
  )?.problem;
}
