import { OperationalError } from '../../../base/errors';
import type { Hub } from '../../../kinds';
import { operatorAnnotations } from '../../../kinds/annotations';
import { objectNames } from '../../../kinds/object-names';
import type { CustomResource } from '../../../kinds/resource';
import type { ApplyOptions } from '../../../runtime/apply';
import type { ClusterObject } from '../../../runtime/objects';
import { builtin } from '../../../runtime/types';
import { definitionsAnnotation, definitionsIn, type OwnDefinitions } from '../../hub-pod/own-definitions';
import type { Services } from '../../services';
import type { Files } from '../generate/config-files';
import { areInParts, entriesFor, entriesOfPart, filesOf } from '../generate/file-keys';
import type { Content } from '../generate/generate';
import { packed, unpacked } from '../generate/packed-files';
import { isInParts, partsOf } from '../generate/parts';

/** The files of a configuration in the ConfigMaps of its hub (rules.md, "Generated configuration"). */

/**
 * Key of the mounted file with the hash of the files. Since it begins with a dot, it is not a file of the
 * hub.
 */
export const HASH_FILE = '.content-hash';

/**
 * Key of the mounted file with the folders on the volume that the files include, as JSON. Absent if there are
 * none.
 */
const FOLDERS_FILE = '.folders';

/** Key of all files in compressed form, used when most files are in other ConfigMaps. */
const PACKED_FILE = '.packed';

/** The fields of {@link Content} that the hub, or the start of its pod, reads. */
export type PublishedFiles = Pick<Content, 'files' | 'marker'> & {
  /**
   * The folders on the volume that the files include. Absent if no folder is included, or if an earlier
   * version wrote the files.
   */
  readonly folders?: Content['folders'] | undefined;
  /**
   * Ids of the configuration's own automations, scenes and scripts. Absent if it has none, or if they are not
   * known.
   */
  readonly definitions?: OwnDefinitions | undefined;
};

/** A ConfigMap with files of a hub. Keys that begin with a dot are not files. */
export interface HubConfigMap extends ClusterObject {
  readonly data?: Readonly<Record<string, string>>;
  /** Values in Base64. ConfigMaps of the operator only use the key {@link PACKED_FILE}. */
  readonly binaryData?: Readonly<Record<string, string>>;
}

type FileServices = Pick<Services, 'applier'>;

/**
 * Writes the files, except those that {@link writeParts} writes. For these, a compressed copy is stored.
 *
 * @param notes annotations, and entries with keys that begin with a dot
 */
export async function writeFiles(
  { applier }: FileServices,
  options: ApplyOptions,
  name: string,
  { files, folders = [], definitions, marker: { configuration: hash } }: PublishedFiles,
  notes: { annotations?: Readonly<Record<string, string>>; data?: HubConfigMap['data'] } = {},
): Promise<void> {
  const { namespace } = options.owner.metadata;
  const annotations = {
    [operatorAnnotations.contentHash]: hash,
    ...definitionsAnnotation(definitions),
    ...notes.annotations,
  };
  const looked = folders.length > 0 ? { [FOLDERS_FILE]: JSON.stringify(folders) } : {};
  const data = { ...entriesFor(files, hash), [HASH_FILE]: hash, ...looked, ...notes.data };
  const binaryData = isInParts(files) && { binaryData: { [PACKED_FILE]: packed(files).toString('base64') } };
  const metadata = { name, namespace, annotations };
  const manifest = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data, ...binaryData };
  await applier.apply(builtin.ConfigMap, manifest, options);
}

/** Writes the parts of a configuration. They are written before the ConfigMap that names their digests. */
export async function writeParts({ applier }: FileServices, hub: Hub, files: Files): Promise<void> {
  const { namespace, name } = hub.metadata;
  const names = objectNames(name).configurationParts();
  for (const [index, part] of partsOf(files).entries()) {
    const metadata = { name: names[index]!, namespace };
    const manifest = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: entriesOfPart(part) };
    await applier.apply(builtin.ConfigMap, manifest, { owner: hub });
  }
}

/** Deletes the parts of a former configuration. */
export async function removeParts(
  { applier, cache }: Pick<Services, 'applier' | 'cache'>,
  hub: Hub,
): Promise<void> {
  const { namespace, name } = hub.metadata;
  for (const part of objectNames(name).configurationParts()) {
    const present = cache.get(builtin.ConfigMap.kind, namespace, part);
    if (present && applier.isOurs(present, hub)) await applier.remove(builtin.ConfigMap, hub, part);
  }
}

/** Finds a ConfigMap in the API server, since the cache has no contents of ConfigMaps. */
export const findConfigMap = ({ applier }: FileServices, namespace: string, name: string) =>
  applier.find<HubConfigMap>(builtin.ConfigMap, namespace, name);

/**
 * Finds the files that an owner has written.
 *
 * @returns undefined when the owner has written none
 */
export async function findFiles(services: FileServices, owner: CustomResource, name: string) {
  const configMap = await findConfigMap(services, owner.metadata.namespace, name);
  const hash = configMap?.data?.[HASH_FILE];
  if (!configMap || hash === undefined || !services.applier.isOurs(configMap, owner)) return undefined;
  return {
    files: filesIn(configMap),
    folders: foldersIn(configMap),
    definitions: definitionsIn(configMap),
    marker: { configuration: hash },
  };
}

/** @throws PackedFilesBroken */
export function filesIn(configMap: HubConfigMap): Files {
  const { data = {}, binaryData } = configMap;
  // A missing compressed copy is an error too: otherwise the files in this ConfigMap would count as the whole
  // configuration.
  const content = binaryData?.[PACKED_FILE] ?? (areInParts(data) ? '' : undefined);
  if (content === undefined) return filesOf(data);
  try {
    return unpacked(Buffer.from(content, 'base64'));
  } catch {
    throw new PackedFilesBroken(configMap);
  }
}

/** A user has changed the compressed files. */
class PackedFilesBroken extends OperationalError {
  override readonly name = 'PackedFilesBroken';

  constructor({ metadata: { namespace, name } }: HubConfigMap) {
    super(
      `the key ${PACKED_FILE} of the ConfigMap ${namespace}/${name} is not as the operator wrote it: delete that ConfigMap. The operator writes it again`,
    );
  }
}

export function foldersIn({ data = {} }: HubConfigMap): readonly string[] {
  const stored = data[FOLDERS_FILE];
  return stored === undefined ? [] : (JSON.parse(stored) as readonly string[]);
}
