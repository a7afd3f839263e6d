import type { CoreConfig } from '../../client/connection/api-types';
import type { HubClient } from '../../client/hub-client';
import type { Hub, HubSpec } from '../../kinds';
import type { ConditionType } from '../../kinds/reasons';
import type { EventSpec } from '../../runtime/event-spec';
import { type ConditionValue, type Outcome, waiting } from '../../runtime/outcome';
import type { ReconcileContext } from '../../runtime/sync-module';
import { type Claim, type StatefulSet, statefulSetOf } from '../hub-pod/owned-objects';
import { DEPENDENCY_REQUEUE } from '../../base/limits';
import { AnswerTooLarge, ApiError, isConflict } from '../../runtime/api-errors';
import { errorOutcome } from '../../runtime/error-outcome';
import type { Services } from '../services';

/**
 * The context of one reconcile of one Hub: its steps add status, conditions and events. Stages, below, add more fields.
 */
export interface HubContext {
  readonly hub: Hub;
  /** With the default of every absent field. */
  readonly spec: HubSpec;
  readonly reconcile: ReconcileContext;
  /** Fields of the status to set; `null` removes one. */
  readonly status: Record<string, unknown>;
  /** Conditions except `Ready`, by type; `null` removes one. */
  readonly conditions: Partial<Record<ConditionType, ConditionValue | null>>;
  readonly events: EventSpec[];
  /** Sentences that `Ready` of a hub that runs adds to its message. */
  readonly notices: string[];
  /** A fault of the Hub that does not stop the reconcile, since the hub runs. `Ready` reports it at the end. */
  problem?: Outcome | undefined;
  /** The StatefulSet with the desired pod template; undefined: the template cannot be applied, or not yet. */
  workload?: StatefulSet | undefined;
  /** The addresses that a controller has reported of the Ingress; undefined: none. */
  ingressAddress?: string | undefined;
  /** Latest time of the next reconcile in milliseconds, for any outcome. Set by {@link requeueAfter}. */
  requeueAfter?: number | undefined;
}

/** Stage: the storage has been checked. */
export type WithClaim = Found &
  (
    | {
        /** The claim that holds `/config`. */
        readonly claim: Claim;
        readonly claimProblem?: undefined;
      }
    | { readonly claim: undefined; readonly claimProblem: ClaimProblem }
  );

interface ClaimProblem {
  readonly outcome: Outcome;
  /**
   * True: the claim does not exist, or another pod uses it, so that no pod may start on it. False: that is not known, so a
   * hub may go on as it runs, and neither another claim nor another image comes to run.
   */
  readonly isChecked: boolean;
}

/** Stage: the Service has been checked. */
export interface WithAddress extends Found {
  /** The address of the hub, without a path; undefined while it is not known. */
  readonly url: string | undefined;
}

/** Stage: the hub has accepted our token. */
export interface Authenticated extends Found {
  readonly url: string;
  readonly client: HubClient;
  readonly core: CoreConfig;
}

/** The fields that a step adds to the context for later steps. Unlike an outcome it has no `type`. */
export interface Found {
  readonly type?: never;
}

/** An outcome ends the reconcile there. */
export type StepResult<Adds extends Found = Found> = Outcome | Adds;

/** A step of the reconcile. `Needs`: the required stage; `Adds`: the fields for later steps. */
export interface HubStep<Needs extends HubContext = HubContext, Adds extends Found = Found> {
  /** For the log: the object that the step ensures. */
  readonly name: string;
  readonly run: (context: Needs) => Promise<StepResult<Adds>>;
}

/** Steps in the order in which they run. Each can be added only after the steps that it needs. */
export class Steps<Stage extends HubContext> {
  private constructor(private readonly steps: readonly HubStep<never>[]) {}

  static none(): Steps<HubContext> {
    return new Steps([]);
  }

  add<Adds extends Found>(step: HubStep<Stage, Adds>): Steps<Stage & Adds> {
    return new Steps([...this.steps, step]);
  }

  /**
   * Runs the steps until one returns an outcome, otherwise `end`, and merges status, conditions and events of all
   * steps.
   */
  async run(context: HubContext, end: (context: Stage) => Outcome): Promise<Outcome> {
    for (const { name, run } of this.steps) {
      context.reconcile.log.debug({ step: name }, 'running step');
      // `add` has checked that the context is at the stage that the step needs.
      const result = await run(context as never);
      if (isOutcome(result)) return merged(context, result);
      Object.assign(context, result);
    }
    return merged(context, end(context as Stage));
  }
}

/** Requeues the Hub after `delay` milliseconds at the latest. */
export function requeueAfter(context: HubContext, delay: number): void {
  context.requeueAfter = Math.min(context.requeueAfter ?? Infinity, delay);
}

export function isOutcome(result: StepResult): result is Outcome {
  return result.type !== undefined;
}

function merged(context: HubContext, end: Outcome): Outcome {
  const { reconcile, requeueAfter: requested, problem } = context;
  reconcile.log.debug({ step: 'status' }, 'running step');
  const reported = problem ? withProblem(problem, end) : end;
  const complete = {
    ...reported,
    status: { ...problem?.status, ...context.status, ...end.status },
    conditions: { ...context.conditions, ...reported.conditions },
    events: [...context.events, ...(reported.events ?? [])],
  };
  const delays = [requested, problem?.after, end.after].filter((after) => after !== undefined);
  return delays.length === 0 ? complete : { ...complete, after: Math.min(...delays) };
}

/**
 * The user can correct the problem, so it comes first, and the state of the hub follows it. The recovery mode comes
 * before the problem: the HubConfiguration reads this reason and brings back content that the hub can start with.
 * `Stalled` tells it that the problem prevents that.
 */
function withProblem(problem: Outcome, end: Outcome): Outcome {
  const texts = end.type === 'Ready' ? [problem] : [problem, end];
  const isRecovery = end.reason === 'RecoveryMode';
  if (isRecovery) texts.reverse();
  const { reason, message } = problem;
  const conditions = { Reconciling: null, Stalled: { status: 'True', reason, message } } as const;
  return {
    ...texts[0]!,
    ...(end.requestPending && { requestPending: true }),
    message: texts.map(({ message }) => message).join(' '),
    conditions: {
      ...problem.conditions,
      ...end.conditions,
      ...(isRecovery && problem.type === 'Stalled' && conditions),
    },
    events: [...(problem.events ?? []), ...(end.events ?? [])],
  };
}

/** A step that ensures an object of the workload. */
export interface WorkloadStep<
  Needs extends HubContext = HubContext,
  Adds extends Found = Found,
> extends HubStep<Needs, Adds> {
  /** The input of the steps after a failed one: the object as it is. */
  readonly present: (context: Needs, failure: Outcome) => Adds;
}

/**
 * A step whose failure does not stop the reconcile of a hub that runs: its bans, its token and its backups need care
 * also when `spec.version` is one that it may not get. The failure becomes the problem of the context. Without a hub
 * that runs the reconcile ends.
 */
export function continueOnFailure<Needs extends HubContext, Adds extends Found>(
  services: Pick<Services, 'cache' | 'applier'>,
  { name, run, present }: WorkloadStep<Needs, Adds>,
): HubStep<Needs, Adds> {
  return {
    name,
    async run(context) {
      const hubRuns = () => {
        const set = statefulSetOf(services, context.hub);
        return set !== undefined && services.applier.isOurs(set, context.hub);
      };
      const result = await run(context).catch((error: unknown) => failureOutcome(error, hubRuns()));
      if (!isOutcome(result)) return result;
      const found = present(context, result);
      if (!hubRuns()) {
        const phase = result.type === 'Stalled' ? 'Failed' : 'Pending';
        return { ...result, status: { phase, ...result.status } };
      }
      context.problem ??= result;
      return found;
    },
  };
}

/**
 * The outcome of a failed step. While the hub runs, errors that say nothing about the Hub count as well: those of a
 * webhook that does not respond.
 */
function failureOutcome(error: unknown, hubRuns: boolean): Outcome {
  const outcome = errorOutcome(error);
  if (outcome) return outcome;
  const isOfServer = error instanceof ApiError || error instanceof AnswerTooLarge;
  if (!hubRuns || !isOfServer || isConflict(error)) throw error;
  return waiting('ApiServerError', `The API server failed: ${error.message}`, DEPENDENCY_REQUEUE);
}
