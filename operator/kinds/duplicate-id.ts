import { area, automation, floor, integration, label, scene, script, zone } from '.';
import { fieldOfId } from './ids';
import type { KindDefinition } from './kind';
import type { CustomResource } from './resource';

const withIds = new Set([automation.kind, scene.kind, script.kind]);

/** Whether the objects of a kind have an id in the hub that a person chooses. */
export const hasChosenId = ({ kind }: KindDefinition): boolean => withIds.has(kind);

/**
 * The field that makes it another object in the hub. The other kinds have none: a hub has one configuration, and each
 * repository once.
 */
const distinguishing: ReadonlyMap<string, string> = new Map([
  ...[area, floor, label, zone].map(({ kind }) => [kind, 'spec.name'] as const),
  [integration.kind, 'spec.title'],
]);

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
  const { kind } = definition;
  const hub = definition.hubName(resource);
  const field = distinguishing.get(kind);
  return hasChosenId(definition)
    ? `${kind} ${other} has the id ${definition.identity?.(resource)} in the Hub ${hub} already: delete it, or give this one another ${otherField(resource)}.`
    : `${kind} ${other} owns the same object in the Hub ${hub} already: delete one of the two${field ? `, or give this one another ${field}` : ''}.`;
}
