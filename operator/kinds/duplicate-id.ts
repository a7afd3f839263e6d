import { automation, scene, script } from '.';
import type { KindDefinition } from './kind';
import type { CustomResource } from './resource';

const withIds = new Set([automation.kind, scene.kind, script.kind]);

/** Whether the objects of a kind have an id in the hub that a person chooses. */
export const hasChosenId = ({ kind }: KindDefinition): boolean => withIds.has(kind);

/**
 * Says that another resource has the object in the hub (rules.md, "Ownership of objects in the hub"), and the way out, as
 * a sentence.
 *
 * @param other name of the other resource, which is of the same kind, namespace and hub
 */
export function duplicateMessage(
  definition: KindDefinition,
  resource: CustomResource,
  other: string,
): string {
  const { kind } = definition;
  const hub = definition.hubName(resource);
  return hasChosenId(definition)
    ? `${kind} ${other} has the id ${definition.identity?.(resource)} in the Hub ${hub} already: delete it, or give this one another spec.id or metadata.name.`
    : `${kind} ${other} owns the same object in the Hub ${hub} already: delete one of the two, or give this one another name.`;
}
