import type { ConfigEntry } from '../../client/connection/flow-step';
import { type Outcome, ready, stalled } from '../../runtime/outcome';
import { changedAnswers } from './answer-hashes';
import { appliedAnswers } from './entry/maintenance';
import type { IntegrationReconcile } from './integration-reconcile';

/** The annotation `dry-run` (rules.md, "Suspend and dry-run"): names of answers, never values. */
export function dryRun(
  reconcile: IntegrationReconcile,
  entry: ConfigEntry | undefined,
  adoptable: ConfigEntry | undefined,
): Outcome {
  const { hashes, spec } = reconcile;
  const tail = 'Remove the annotation to apply it.';
  if (!entry) {
    const ids = Object.keys(hashes).sort();
    const would = adoptable
      ? `Would adopt the ${spec.domain} entry “${adoptable.title}”.`
      : `Would run the config flow of ${spec.domain}${ids.length > 0 ? ` with ${ids.join(', ')}` : ''}.`;
    return stalled('DryRun', `${would} ${tail}`);
  }
  const changes = [
    ...changedAnswers(appliedAnswers(reconcile), hashes),
    ...(spec.title !== undefined && spec.title !== entry.title ? ['title'] : []),
    ...(spec.enabled !== (entry.disabled_by === null) ? ['enabled'] : []),
  ];
  if (changes.length === 0) return ready('DryRun', 'Nothing would be sent: the entry is as specified.');
  return stalled('DryRun', `Would apply ${changes.join(', ')}. ${tail}`);
}
