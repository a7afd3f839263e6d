import { fieldOfId } from './ids';
import type { KindDefinition } from './kind';
import type { CustomResource } from './resource';

/** Whether users choose the hub id of the objects of a kind. */
export const hasChosenId = ({ spec }: KindDefinition): boolean =>
  spec.properties !== undefined && 'id' in spec.properties;

/**
 * The field to change so that a resource gets another id. `hubId` is immutable: another one needs a new
 * resource.
 */
const otherField = (resource: CustomResource): string =>
  fieldOfId(resource) === 'spec.hubId' ? 'spec.hubId, as a new resource' : 'spec.id or metadata.name';

/**
 * The message that another resource has the same object in the hub (rules.md, "Ownership of objects in the
 * hub"), and how to resolve that.
 *
 * @param other name of the other resource, which has the same kind, namespace and hub
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
