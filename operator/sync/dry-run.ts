import { API_GROUP } from '../kinds/group';
import type { Applier } from '../runtime/apply';
import { DryRunApplier } from '../runtime/dry-run-applier';
import { type Outcome, ready, stalled } from '../runtime/outcome';
import type { Services } from './services';

/**
 * The outcome of a reconcile with the annotation `dry-run`: what it would write to the cluster, which the API server works
 * out without doing it (rules.md, "Suspend and dry-run"). An outcome that is not Ready stays what it is.
 */
export async function dryRunOutcome(
  { cluster, cache }: Pick<Services, 'cluster' | 'cache'>,
  reconcile: (applier: Applier) => Promise<Outcome>,
): Promise<Outcome> {
  const applier = new DryRunApplier(cluster, cache, API_GROUP);
  const { type, reason, message } = await reconcile(applier);
  const { differences } = applier;
  if (differences.length > 0)
    return stalled('DryRun', `${differences.join(' ')} Remove the annotation to apply it.`);
  if (type !== 'Ready') return stalled(reason, message);
  return ready('DryRun', 'Nothing in the cluster would change.');
}
