import { objectNames } from '../../kinds/object-names';
import { NameConflict, ObjectRejected } from '../../runtime/apply';
import { type Outcome, stalled, waiting } from '../../runtime/outcome';
import { builtin } from '../../runtime/types';
import type { Services } from '../services';
import { type Found, type HubContext, type HubStep, isOutcome } from './steps';

/** An object that is being deleted is gone soon. */
const TERMINATING_RETRY_INTERVAL = 5_000;

/** A step that ensures an object of the workload. */
export interface WorkloadStep<
  Needs extends HubContext = HubContext,
  Adds extends Found = Found,
> extends HubStep<Needs, Adds> {
  /** What the steps after it work with when it fails: the object as it is. */
  readonly present: (context: Needs) => Adds;
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
      const result = await run(context).catch(failureOutcome);
      if (!isOutcome(result)) return result;
      const found = present(context);
      if (!hasStatefulSet(services, context)) {
        const phase = result.type === 'Stalled' ? 'Failed' : 'Pending';
        return { ...result, status: { phase, ...result.status } };
      }
      context.problem ??= result;
      return found;
    },
  };
}

/** The same as the runtime would make of the error if it were not caught here. */
function failureOutcome(error: unknown): Outcome {
  if (error instanceof NameConflict)
    return error.transient
      ? waiting('NameConflict', error.message, TERMINATING_RETRY_INTERVAL)
      : stalled('NameConflict', error.message);
  if (error instanceof ObjectRejected) return stalled('InvalidSpec', error.message);
  throw error;
}

function hasStatefulSet(
  { cache, applier }: Pick<Services, 'cache' | 'applier'>,
  { hub }: HubContext,
): boolean {
  const { namespace, name } = hub.metadata;
  const set = cache.get(builtin.StatefulSet.kind, namespace, objectNames(name).workload);
  return set !== undefined && applier.isOurs(set, hub);
}
