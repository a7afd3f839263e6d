import { automation, device, entity, integration, kindsByName, scene, script } from '../../operator/kinds';
import type { CustomResource } from '../../operator/kinds/resource';
import { entryKinds } from '../../operator/sync/registry/entry-types';
import { type Cluster, resourceType } from '../cluster';
import type { StoredObjects } from '../diff/stored-objects';
import type { NotExpressed } from './config-entities';
import { objectIds } from './object-ids';
import type { Described, DescribedHub } from './resources';

/** The kinds of the files of an export. The order is that of the requests. */
const KINDS = [...entryKinds, automation, scene, script, integration, entity, device];

/**
 * Leaves out the objects that a resource of the Hub has, or that the operator would adopt for it.
 *
 * @throws ApiError the user may not list a kind
 * @throws HubError
 */
export async function withoutResource(
  cluster: Pick<Cluster, 'list'>,
  hub: string,
  all: DescribedHub,
  stored: StoredObjects,
): Promise<DescribedHub> {
  const resources: CustomResource[] = [];
  for (const definition of KINDS) resources.push(...(await cluster.list(resourceType(definition))));
  const objects = await objectsOf(
    resources.filter((each) => kindsByName.get(each.kind)!.hubName(each) === hub),
    stored,
  );
  const found = all.described.filter(({ id, resource }) => {
    const given = resource as unknown as CustomResource;
    return !objects.has(objectKey({ kind: given.kind, domain: domainOf(given), id }));
  });
  const names = new Set(resources.map(({ kind, metadata }) => `${kind} ${metadata.name}`));
  const nameOf = ({ resource: { kind, metadata } }: Described) => `${kind} ${metadata.name}`;
  return {
    described: found.filter((each) => !names.has(nameOf(each))),
    notExpressed: [
      ...all.notExpressed.filter(({ of }) => of === undefined || !objects.has(objectKey(of))),
      ...found
        .filter((each) => names.has(nameOf(each)))
        .map((each) => ({
          object: each.object,
          reason: `There is a ${nameOf(each)} for something else: rename this one in the hub, or write its resource by hand.`,
        })),
    ],
  };
}

/** Keys of the objects in the hub of the resources of a Hub. */
async function objectsOf(
  resources: readonly CustomResource[],
  stored: StoredObjects,
): Promise<ReadonlySet<string>> {
  const keys = new Set<string>();
  for (const resource of resources)
    for (const id of await objectIds(resource, resources, stored))
      keys.add(objectKey({ kind: resource.kind, domain: domainOf(resource), id }));
  return keys;
}

const objectKey = ({ kind, domain = '', id }: NonNullable<NotExpressed['of']>): string =>
  JSON.stringify([kind, domain, id]);

/** Two helpers of different types may have the same id. */
const domainOf = (resource: CustomResource): string =>
  kindsByName.get(resource.kind)!.ownEntity?.domainOf?.(resource) ?? '';
