import type { HubConfiguration, HubConfigurationSpec } from '../../kinds';
import { API_GROUP } from '../../kinds/group';
import { findConfigMap } from './record/stored-files';
import { ObjectOwnership } from '../../runtime/object-ownership';
import type { ClusterObject } from '../../runtime/objects';
import { builtin } from '../../runtime/types';
import type { Services } from '../services';
import { type GivenFiles, givenFiles, type NamedConfigMap } from './generate/given-files';

/**
 * The contents of ConfigMaps by their version in the cache: they are read again only when the ConfigMap has
 * changed.
 */
const entries = new WeakMap<ClusterObject, Promise<NamedConfigMap | undefined>>();

/** The files of a spec, including those of the ConfigMaps that it names. */
export async function readGivenFiles(
  services: Pick<Services, 'applier' | 'cache'>,
  { metadata: { namespace } }: HubConfiguration,
  spec: Pick<HubConfigurationSpec, 'hubRef' | 'files' | 'filesFrom'>,
): Promise<GivenFiles> {
  const names = new Set((spec.filesFrom ?? []).map(({ configMapRef: { name } }) => name));
  const read = async (name: string) => [name, await readConfigMap(services, namespace, name)] as const;
  return givenFiles(spec, new Map(await Promise.all([...names].map(read))));
}

const ownership = new ObjectOwnership(API_GROUP);

const isOfOperator = (object: ClusterObject): boolean => ownership.ownerIn(object) !== undefined;

/**
 * Reads a ConfigMap from the API server, since the cache has only its metadata.
 *
 * @returns undefined when it does not exist
 */
export function readConfigMap(
  services: Pick<Services, 'applier' | 'cache'>,
  namespace: string,
  name: string,
): Promise<NamedConfigMap | undefined> {
  const present = services.cache.get<ClusterObject>(builtin.ConfigMap.kind, namespace, name);
  if (!present) return Promise.resolve(undefined);
  const known = entries.get(present);
  if (known) return known;
  const pending = isOfOperator(present)
    ? Promise.resolve({ isOfOperator: true })
    : findConfigMap(services, namespace, name);
  entries.set(present, pending);
  pending.catch(() => entries.delete(present));
  return pending;
}
