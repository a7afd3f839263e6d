import { automation, scene, script } from '../kinds';
import type { KindDefinition } from '../kinds/kind';
import type { CustomResource } from '../kinds/resource';
import type { ClusterState } from './cluster-state';

/** The kinds whose objects in the hub have an id that a person chooses. */
const withIds = new Set([automation.kind, scene.kind, script.kind]);

/**
 * The other resource that has the same id in the same hub (rules.md, "Ownership of objects in the hub"). One that is
 * being deleted gives its id up. Undefined: there is none, or this kind has no such ids.
 */
export function duplicateOf(
  definition: KindDefinition,
  resource: CustomResource,
  state: ClusterState,
): CustomResource | undefined {
  if (!withIds.has(definition.kind)) return undefined;
  return state
    .othersWithIdentity(definition, resource)
    .find((other) => other.metadata.deletionTimestamp === undefined);
}

/** Says which resource has the id, and the way out, as a sentence. */
export function duplicateMessage(
  definition: KindDefinition,
  resource: CustomResource,
  other: CustomResource,
): string {
  const id = definition.identity?.(resource);
  const hub = definition.hubName(resource);
  return (
    `${definition.kind} ${other.metadata.name} has the id ${id} in the Hub ${hub} already: ` +
    'delete it, or give this one another spec.id or metadata.name.'
  );
}
