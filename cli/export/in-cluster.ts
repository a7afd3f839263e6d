import { automation, device, entity, integration, kindsByName, scene, script } from '../../operator/kinds';
import type { CustomResource } from '../../operator/kinds/resource';
import { devices } from '../../operator/sync/registry/borrowed/devices';
import { entities } from '../../operator/sync/registry/borrowed/entities';
import { entryTypes } from '../../operator/sync/registry/entry-types';
import { type Cluster, resourceType } from '../cluster';
import type { NotExpressed } from './config-entities';
import type { Described } from './resources';

/** The field of status with the id of the object in the hub, by kind. */
const ID_FIELDS: ReadonlyMap<string, string> = new Map([
  ...entryTypes.map(({ definition, idField }) => [definition.kind, idField] as const),
  ...[automation, scene, script].map(({ kind, ownEntity }) => [kind, ownEntity!.idField] as const),
  [integration.kind, 'entryID'],
  [entity.kind, entities.idField],
  [device.kind, devices.idField],
]);

/** The objects of a hub that no resource has. */
interface New {
  readonly described: readonly Described[];
  /** Objects whose name a resource with another object has. */
  readonly notExpressed: readonly NotExpressed[];
}

/**
 * Leaves out the objects that a resource of the Hub has.
 *
 * @throws ApiError the user may not list a kind
 */
export async function withoutResource(
  cluster: Pick<Cluster, 'list'>,
  hub: string,
  all: readonly Described[],
): Promise<New> {
  const [objects, names] = [new Set<string>(), new Set<string>()];
  for (const [kind, field] of ID_FIELDS)
    for (const resource of await cluster.list(resourceType(kindsByName.get(kind)!))) {
      names.add(`${kind} ${resource.metadata.name}`);
      const id = (resource.status as Readonly<Record<string, unknown>> | undefined)?.[field];
      if (kindsByName.get(kind)!.hubName(resource) === hub && typeof id === 'string')
        objects.add(key(resource, id));
    }
  const found = all.filter(
    ({ id, resource }) => !objects.has(key(resource as unknown as CustomResource, id)),
  );
  const nameOf = ({ resource: { kind, metadata } }: Described) => `${kind} ${metadata.name}`;
  return {
    described: found.filter((each) => !names.has(nameOf(each))),
    notExpressed: found
      .filter((each) => names.has(nameOf(each)))
      .map((each) => ({
        object: each.object,
        reason: `The ${nameOf(each)} has another object: rename this one in the hub, or write its resource by hand.`,
      })),
  };
}

/** Two helpers of different types may have the same id. */
function key(resource: CustomResource, id: string): string {
  const domain = kindsByName.get(resource.kind)!.ownEntity?.domainOf?.(resource) ?? '';
  return JSON.stringify([resource.kind, domain, id]);
}
