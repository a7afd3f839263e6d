import { objectNames } from '../../kinds/object-names';
import { DEPENDENCY_REQUEUE } from '../../base/limits';
import { ApiError, isConflict } from '../../runtime/api-errors';
import { errorOutcome } from '../../runtime/error-outcome';
import { type Outcome, waiting } from '../../runtime/outcome';
import { builtin } from '../../runtime/types';
import type { Services } from '../services';
import { type Found, type HubContext, type HubStep, isOutcome } from './steps';

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
      const hubRuns = () => hasStatefulSet(services, context);
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
  if (!hubRuns || !(error instanceof ApiError) || isConflict(error)) throw error;
  return waiting('ApiServerError', `The API server failed: ${error.message}`, DEPENDENCY_REQUEUE);
}

function hasStatefulSet(
  { cache, applier }: Pick<Services, 'cache' | 'applier'>,
  { hub }: HubContext,
): boolean {
  const { namespace, name } = hub.metadata;
  const set = cache.get(builtin.StatefulSet.kind, namespace, objectNames(name).workload);
  return set !== undefined && applier.isOurs(set, hub);
}
