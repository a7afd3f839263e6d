import { automation, device, entity, integration, kindsByName, scene, script } from '../../operator/kinds';
import type { CustomResource } from '../../operator/kinds/resource';
import { entryKinds } from '../../operator/sync/registry/entry-types';
import { type Cluster, resourceType } from '../cluster';
import type { StoredObjects } from '../diff/stored-objects';
import type { NotExpressed } from './config-entities';
import { objectIds } from './object-ids';
import { domainOf, type Present } from './present';
import type { DescribedHub } from './resources';

/** The kinds of the files of an export. The order is that of the requests. */
const KINDS = [...entryKinds, automation, scene, script, integration, entity, device];

/**
 * The resources of the namespace, and the objects of those of a Hub.
 *
 * @throws ApiError the user may not list a kind
 * @throws HubError
 */
export async function presentIn(
  cluster: Pick<Cluster, 'list'>,
  hub: string,
  stored: StoredObjects,
): Promise<Present> {
  const resources: CustomResource[] = [];
  for (const definition of KINDS) resources.push(...(await cluster.list(resourceType(definition))));
  const names = new Map<string, Set<string>>(KINDS.map(({ kind }) => [kind, new Set()]));
  for (const { kind, metadata } of resources) names.get(kind)?.add(metadata.name);
  const ofHub = resources.filter((each) => kindsByName.get(each.kind)!.hubName(each) === hub);
  // The operator hands the object of a deleted resource over, so that a file has to refer to its successor.
  const isGoing = ({ metadata }: CustomResource) => metadata.deletionTimestamp !== undefined;
  const lasting = ofHub.filter((each) => !isGoing(each));
  const owners = new Map<string, string>();
  for (const resource of [...ofHub.filter(isGoing), ...lasting])
    for (const id of await objectIds(resource, lasting, stored))
      owners.set(objectKey({ kind: resource.kind, domain: domainOf(resource), id }), resource.metadata.name);
  return {
    namesOf: (kind) => names.get(kind) ?? new Set(),
    ownerOf: (object) => owners.get(objectKey(object)),
  };
}

/** Leaves out the objects that a resource of the Hub has, or that the operator would adopt for it. */
export function withoutPresent(
  { described, notExpressed }: DescribedHub,
  { ownerOf }: Present,
): DescribedHub {
  return {
    described: described.filter(
      ({ id, resource }) => ownerOf({ kind: resource.kind, domain: domainOf(resource), id }) === undefined,
    ),
    notExpressed: notExpressed.filter(({ of }) => of === undefined || ownerOf(of) === undefined),
  };
}

const objectKey = ({ kind, domain = '', id }: NonNullable<NotExpressed['of']>): string =>
  JSON.stringify([kind, domain, id]);
