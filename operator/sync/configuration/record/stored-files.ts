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

/** Key of the mounted file with the hash of the files; a name that begins with a dot is no file of the hub. */
export const HASH_FILE = '.content-hash';

/** Key of the mounted file with the folders of the volume that the files include, as JSON; absent: there are none. */
const FOLDERS_FILE = '.folders';

/** Key of all files in compressed form, where other ConfigMaps have the most of them. */
const PACKED_FILE = '.packed';

/** The part of a content that the hub reads, or the start of its pod. */
export type PublishedFiles = Pick<Content, 'files' | 'marker'> & {
  /** Absent: none, or it was written by an operator that did not know them. */
  readonly folders?: Content['folders'] | undefined;
  /** Absent: none, or not known. */
  readonly definitions?: OwnDefinitions | undefined;
};

/** Files of a hub in a ConfigMap, with keys that begin with a dot. */
export interface HubConfigMap extends ClusterObject {
  readonly data?: Readonly<Record<string, string>>;
  /** Base64. Of ours, {@link PACKED_FILE} alone. */
  readonly binaryData?: Readonly<Record<string, string>>;
}

type FileServices = Pick<Services, 'applier'>;

/**
 * Writes the files, but for those that {@link writeParts} writes: of these there is a compressed copy.
 *
 * @param notes annotations and entries beside the files, whose keys begin with a dot
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

/** Writes the parts of a configuration, before the ConfigMap that names their digests. */
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

/** From the API server: the cache has no contents of ConfigMaps. */
export const findConfigMap = ({ applier }: FileServices, namespace: string, name: string) =>
  applier.find<HubConfigMap>(builtin.ConfigMap, namespace, name);

/** Undefined: the owner has written none. */
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
  // A copy that is gone is as broken: the rest would count as the whole.
  const content = binaryData?.[PACKED_FILE] ?? (areInParts(data) ? '' : undefined);
  if (content === undefined) return filesOf(data);
  try {
    return unpacked(Buffer.from(content, 'base64'));
  } catch {
    throw new PackedFilesBroken(configMap);
  }
}

/** A person has changed them. */
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
