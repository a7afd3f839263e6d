import { API_GROUP } from '../kinds/group';
import type { Applier } from '../runtime/apply';
import { DryRunApplier } from '../runtime/dry-run-applier';
import { type Outcome, ready, stalled } from '../runtime/outcome';
import type { Services } from './services';

type DryRunServices = Pick<Services, 'cluster' | 'cache'>;

/**
 * The outcome of a reconcile of a resource with the annotation `dry-run`: the writes to the cluster that it
 * would make, as the API server computes them (rules.md, "Suspend and dry-run"). If the reconcile stops
 * before its first difference, the outcome has its reason and message.
 */
export async function dryRunOutcome(
  services: DryRunServices,
  reconcile: (applier: Applier) => Promise<Outcome>,
): Promise<Outcome> {
  const applier = dryRunApplier(services);
  const { type, reason, message } = await reconcile(applier);
  return type === 'Ready' || applier.differences.length > 0
    ? comparedOutcome(applier)
    : stalled(reason, message);
}

/** An applier for one reconcile: each write is sent as a dry run, and its difference is recorded. */
export const dryRunApplier = ({ cluster, cache }: DryRunServices): DryRunApplier =>
  new DryRunApplier(cluster, cache, API_GROUP);

/**
 * The outcome of a dry run that has compared everything.
 *
 * @param unchanged the message when there is no difference
 */
export function comparedOutcome(
  { differences }: Pick<DryRunApplier, 'differences'>,
  unchanged = 'Nothing in the cluster would change.',
): Outcome {
  return differences.length === 0
    ? ready('DryRun', unchanged)
    : stalled('DryRun', `${differences.join(' ')} Remove the annotation to apply it.`);
}
