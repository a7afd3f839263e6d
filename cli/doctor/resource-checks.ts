import { hub as hubKind } from '../../operator/kinds';
import type { CustomResource } from '../../operator/kinds/resource';
import { hubNameOf } from '../status/causes';
import { conditionOf } from '../status/state';
import { about, type Finding } from './finding';

/** Milliseconds after which a deletion counts as stuck; the operator waits less for a hub. */
const STUCK_DELETION = 5 * 60_000;
/** Milliseconds in which the operator has reconciled a new resource. */
const FIRST_RECONCILE = 2 * 60_000;

/** Resources whose Hub is missing, that are not deleted in the end, or that no operator reconciles. */
export function checkResources(
  resources: ReadonlyMap<string, readonly CustomResource[]>,
  now: number,
): Finding[] {
  const hubs = new Set(resources.get(hubKind.kind)?.map(({ metadata }) => metadata.name));
  const all = [...resources.values()].flat();
  const findings = all.flatMap((resource) => findingsOf(resource, hubs, now));
  return findings.length > 0
    ? findings
    : [about('resources', 'namespace').ok('Each resource has its Hub and is reconciled.')];
}

function findingsOf(resource: CustomResource, hubs: ReadonlySet<string>, now: number): Finding[] {
  const { kind, metadata } = resource;
  const subject = `${kind} ${metadata.name}`;
  const age = now - Date.parse(metadata.creationTimestamp);
  const hubName = hubNameOf(resource);
  if (metadata.deletionTimestamp && now - Date.parse(metadata.deletionTimestamp) > STUCK_DELETION)
    return [
      about('deletion', subject).fault(
        `It has been waiting for its deletion since ${metadata.deletionTimestamp}, with the finalizers ${(metadata.finalizers ?? []).join(', ')}.`,
        'The operator removes its own finalizer: check that it runs. Another one belongs to another controller.',
      ),
    ];
  if (!hubs.has(hubName))
    return [
      about('orphans', subject).fault(
        `It belongs to the Hub ${hubName}, which does not exist.`,
        'Create the Hub, or delete the resource.',
      ),
    ];
  if (!conditionOf(resource, 'Ready') && age > FIRST_RECONCILE)
    return [
      about('reconciliation', subject).fault(
        'The operator has not reconciled it since it was created.',
        'Check that the operator runs, and that its setting WATCH_NAMESPACES includes this namespace.',
      ),
    ];
  return [];
}
