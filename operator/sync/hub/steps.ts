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
 * The context of one reconcile of one Hub. The steps add status, conditions and events to it. The stages
 * below add more fields.
 */
export interface HubContext {
  readonly hub: Hub;
  /** The spec with the default of every absent field. */
  readonly spec: HubSpec;
  readonly reconcile: ReconcileContext;
  /** Fields of the status to set; `null` removes one. */
  readonly status: Record<string, unknown>;
  /** Conditions except `Ready`, by type; `null` removes one. */
  readonly conditions: Partial<Record<ConditionType, ConditionValue | null>>;
  readonly events: EventSpec[];
  /** Sentences that are added to the message of `Ready` when the hub runs. */
  readonly notices: string[];
  /**
   * A fault of the Hub that does not stop the reconcile, since the hub runs. `Ready` reports it at the end.
   */
  problem?: Outcome | undefined;
  /**
   * The StatefulSet with the desired pod template. Undefined while the template has not been applied or
   * cannot be.
   */
  workload?: StatefulSet | undefined;
  /** The address that the ingress controller has reported, if any. */
  ingressAddress?: string | undefined;
  /** Milliseconds until the next reconcile at the latest, for any outcome. Set by {@link requeueAfter}. */
  requeueAfter?: number | undefined;
}

/** Stage of a reconcile: the storage has been checked. */
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
   * True when the check has found a fault: the claim does not exist, or another pod uses it, so that no pod
   * may start on it. False when the claim could not be checked: the hub goes on as it runs, with neither
   * another claim nor another image.
   */
  readonly isChecked: boolean;
}

/** Stage of a reconcile: the Service has been checked. */
export interface WithAddress extends Found {
  /** The address of the hub, without a path. Undefined while it is not known. */
  readonly url: string | undefined;
}

/** Stage of a reconcile: the hub has accepted the operator's token. */
export interface Authenticated extends Found {
  readonly url: string;
  readonly client: HubClient;
  readonly core: CoreConfig;
}

/**
 * The fields that a step adds to the context for later steps. In contrast to an outcome, they include no
 * `type`.
 */
export interface Found {
  readonly type?: never;
}

/** The result of a step: an outcome, which ends the reconcile, or fields for later steps. */
export type StepResult<Adds extends Found = Found> = Outcome | Adds;

/**
 * A step of the reconcile. `Needs` is the stage that it requires, `Adds` the fields that it adds for later
 * steps.
 */
export interface HubStep<Needs extends HubContext = HubContext, Adds extends Found = Found> {
  /** Name of the object that the step ensures, for the log. */
  readonly name: string;
  readonly run: (context: Needs) => Promise<StepResult<Adds>>;
}

/** Steps in the order in which they run. The types allow adding a step only after the steps that it needs. */
export class Steps<Stage extends HubContext> {
  private constructor(private readonly steps: readonly HubStep<never>[]) {}

  static none(): Steps<HubContext> {
    return new Steps([]);
  }

  add<Adds extends Found>(step: HubStep<Stage, Adds>): Steps<Stage & Adds> {
    return new Steps([...this.steps, step]);
  }

  /**
   * Runs the steps until one returns an outcome. If none does, `end` makes the outcome. Status, conditions
   * and events of all steps are merged into it.
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
 * Combines the problem of the Hub with the outcome of the last step. The problem comes first, since the user
 * can correct it, and the state of the hub follows. Only `RecoveryMode` comes before the problem, because the
 * HubConfiguration acts on this reason and brings back content that the hub can start with. The condition
 * `Stalled` tells the HubConfiguration that the problem prevents that.
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
  /** The fields for later steps after this one failed: the object as it exists in the cluster. */
  readonly present: (context: Needs, failure: Outcome) => Adds;
}

/**
 * A step whose failure does not stop the reconcile of a hub that runs. The failure becomes the problem of the
 * context, and later steps go on: for example, bans, token and backups of the hub need care also when
 * `spec.version` is refused. If no hub runs, the failure ends the reconcile.
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
 * The outcome of a failed step. While the hub runs, failures of the API server become an outcome too, such as
 * a webhook that does not respond: without a hub they are thrown.
 */
export function failureOutcome(error: unknown, hubRuns: boolean): Outcome {
  const outcome = errorOutcome(error);
  if (outcome) return outcome;
  const isOfServer = error instanceof ApiError || error instanceof AnswerTooLarge;
  if (!hubRuns || !isOfServer || isConflict(error)) throw error;
  return waiting('ApiServerError', `The API server failed: ${error.message}`, DEPENDENCY_REQUEUE);
}
