import type { CoreConfig } from '../../client/core';
import type { HubClient } from '../../client/hub-client';
import type { Hub, HubSpec } from '../../kinds';
import type { ConditionType } from '../../kinds/reasons';
import type { EventSpec } from '../../runtime/events';
import type { ConditionValue, Outcome } from '../../runtime/outcome';
import type { ReconcileContext } from '../../runtime/sync-module';
import type { Claim } from './workload/storage';

/** One pass over one Hub: what it is about, and what its steps have found out so far. */
export interface HubContext {
  readonly hub: Hub;
  /** With the default of every absent field. */
  readonly spec: HubSpec;
  readonly reconcile: ReconcileContext;
  /** Fields of the status to set; `null` takes one away. */
  readonly status: Record<string, unknown>;
  /** Conditions but for `Ready`, by type; `null` takes one away. */
  readonly conditions: Partial<Record<ConditionType, ConditionValue | null>>;
  readonly events: EventSpec[];
  /** The claim that holds `/config`, once it is there. */
  claim?: Claim | undefined;
  /** Where the hub is reached, once that is known. */
  url?: string | undefined;
  /** Once the hub has answered to our token: how to talk to it, and what it said of itself. */
  client?: HubClient;
  core?: CoreConfig;
  /** What is wrong with the Hub although its hub runs: the pass goes on, and `Ready` says this in the end. */
  problem?: Outcome | undefined;
  /** Milliseconds until a step wants to look again, whatever the outcome. */
  requeueAfter?: number | undefined;
}

/** An outcome ends the pass there; undefined goes on to the next step. */
export type StepResult = Outcome | undefined;

/** A step of the pass, under the name by which the log tells of it. */
export interface HubStep {
  readonly name: string;
  readonly run: (context: HubContext) => Promise<StepResult>;
}

/** Asks for another look after `delay` milliseconds at the latest. */
export function requeueAfter(context: HubContext, delay: number): void {
  context.requeueAfter = Math.min(context.requeueAfter ?? Infinity, delay);
}

/** Runs the steps in their order, ends with `end` when none of them ended the pass, and tells what they found. */
export async function runSteps(
  steps: readonly HubStep[],
  context: HubContext,
  end: (context: HubContext) => Outcome,
): Promise<Outcome> {
  for (const { name, run } of steps) {
    context.reconcile.log.debug({ step: name }, 'step');
    const outcome = await run(context);
    if (outcome) return concluded(context, outcome);
  }
  return concluded(context, end(context));
}

function concluded(
  { reconcile, requeueAfter: requested, problem, ...found }: HubContext,
  end: Outcome,
): Outcome {
  reconcile.log.debug({ step: 'status' }, 'step');
  const shown = problem ? withProblem(problem, end) : end;
  const complete = {
    ...shown,
    status: { ...found.status, ...shown.status },
    conditions: { ...found.conditions, ...shown.conditions },
    events: [...found.events, ...(shown.events ?? [])],
  };
  const delays = [requested, problem?.after, end.after].filter((after) => after !== undefined);
  return delays.length === 0 ? complete : { ...complete, after: Math.min(...delays) };
}

/** The problem is what the user can mend; how the hub is doing stands in the rest of the status, and after it. */
function withProblem(problem: Outcome, end: Outcome): Outcome {
  return {
    ...problem,
    message: end.type === 'Ready' ? problem.message : `${problem.message} ${end.message}`,
    status: { ...problem.status, ...end.status },
    conditions: { ...problem.conditions, ...end.conditions },
    events: [...(problem.events ?? []), ...(end.events ?? [])],
  };
}
