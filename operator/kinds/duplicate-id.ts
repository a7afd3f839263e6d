import { fieldOfId } from './ids';
import type { KindDefinition } from './kind';
import type { CustomResource } from './resource';

/** Whether the objects of a kind have an id in the hub that a person chooses. */
export const hasChosenId = ({ spec }: KindDefinition): boolean =>
  spec.properties !== undefined && 'hubId' in spec.properties;

/** A `hubId` cannot be changed. */
const otherField = (resource: CustomResource): string =>
  fieldOfId(resource) === 'spec.hubId' ? 'spec.hubId, as a new resource' : 'spec.id or metadata.name';

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
  const { kind, identityField: field } = definition;
  const hub = definition.hubName(resource);
  return hasChosenId(definition)
    ? `${kind} ${other} has the id ${definition.identity?.(resource)} in the Hub ${hub} already: delete it, or give this one another ${otherField(resource)}.`
    : `${kind} ${other} owns the same object in the Hub ${hub} already: delete one of the two${field ? `, or give this one another ${field}` : ''}.`;
}
