import type { CustomResource } from '../../../kinds/resource';
import type { ApplyOptions } from '../../../runtime/apply';
import type { ClusterObject } from '../../../runtime/objects';
import { operatorAnnotations } from '../../../kinds/annotations';
import { builtin } from '../../../runtime/types';
import type { Services } from '../../services';
import type { Files } from '../generate/config-files';
import type { Content } from '../generate/configuration-content';

/** Key of the mounted file with the hash of the files; a name that begins with a dot is no file of the hub. */
export const HASH_FILE = '.content-hash';

/** The part of a content that the hub reads. */
export type PublishedFiles = Pick<Content, 'files' | 'marker'>;

/** Files of a hub in a ConfigMap, with keys that begin with a dot. */
export interface HubConfigMap extends ClusterObject {
  readonly data?: Readonly<Record<string, string>>;
}

type FileServices = Pick<Services, 'applier'>;

/**
 * @param notes annotations and entries beside the files, whose keys begin with a dot
 * @throws NameConflict, ObjectRejected
 */
export async function writeFiles(
  { applier }: FileServices,
  options: ApplyOptions,
  name: string,
  { files, marker: { configuration: hash } }: PublishedFiles,
  notes: { annotations?: Readonly<Record<string, string>>; data?: HubConfigMap['data'] } = {},
): Promise<void> {
  const { namespace } = options.owner.metadata;
  const annotations = { [operatorAnnotations.contentHash]: hash, ...notes.annotations };
  const data = { ...files, [HASH_FILE]: hash, ...notes.data };
  const metadata = { name, namespace, annotations };
  await applier.apply(builtin.ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data }, options);
}

/** From the API server: the cache has no contents of ConfigMaps. */
export const findConfigMap = ({ applier }: FileServices, namespace: string, name: string) =>
  applier.find<HubConfigMap>(builtin.ConfigMap, namespace, name);

/** Undefined: the owner has written none. */
export async function findFiles(
  services: FileServices,
  owner: CustomResource,
  name: string,
): Promise<PublishedFiles | undefined> {
  const configMap = await findConfigMap(services, owner.metadata.namespace, name);
  const hash = configMap?.data?.[HASH_FILE];
  if (!configMap || hash === undefined || !services.applier.isOurs(configMap, owner)) return undefined;
  return { files: filesIn(configMap), marker: { configuration: hash } };
}

export const filesIn = ({ data = {} }: HubConfigMap): Files =>
  Object.fromEntries(Object.entries(data).filter(([name]) => !name.startsWith('.')));
