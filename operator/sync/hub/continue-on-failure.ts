import { objectNames } from '../../kinds/object-names';
import { NameConflict, ObjectRejected } from '../../runtime/apply';
import { type Outcome, stalled, waiting } from '../../runtime/outcome';
import { builtin } from '../../runtime/types';
import type { Services } from '../services';
import type { HubStep, HubContext } from './steps';

/** An object that goes is gone soon; there is no number for it. */
const TERMINATING_RETRY_INTERVAL = 5_000;

/**
 * A step towards the workload. What keeps it from being done does not keep a hub that runs from being looked after: its
 * bans, its token and its backups are no less a matter when `spec.version` is one that it may not get. Without a hub
 * that runs there is nothing to look after, and the pass ends.
 */
export function continueOnFailure(services: Services, { name, run }: HubStep): HubStep {
  return {
    name,
    async run(context) {
      const problem = await run(context).catch(problemOf);
      if (!problem) return undefined;
      if (!runs(services, context)) {
        const phase = problem.type === 'Stalled' ? 'Failed' : 'Pending';
        return { ...problem, status: { phase, ...problem.status } };
      }
      context.problem ??= problem;
      return undefined;
    },
  };
}

/** What the runtime would say of it too, if it were not caught here. */
function problemOf(error: unknown): Outcome {
  if (error instanceof NameConflict)
    return error.transient
      ? waiting('NameConflict', error.message, TERMINATING_RETRY_INTERVAL)
      : stalled('NameConflict', error.message);
  if (error instanceof ObjectRejected) return stalled('InvalidSpec', error.message);
  throw error;
}

function runs({ cache, applier }: Services, { hub }: HubContext): boolean {
  const { namespace, name } = hub.metadata;
  const set = cache.get(builtin.StatefulSet.kind, namespace, objectNames(name).workload);
  return set !== undefined && applier.isOurs(set, hub);
}
