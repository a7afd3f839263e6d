import type { Hub } from '../../../kinds';
import { operatorAnnotations } from '../../../kinds/annotations';
import type { ClusterObject } from '../../../runtime/objects';
import { builtin } from '../../../runtime/types';
import type { Services } from '../../services';
import type { Files } from '../generate/config-files';
import { HASH_FILE } from './publish';

/** Files of a hub in a ConfigMap that belongs to the Hub. */
export interface HubConfigMap extends ClusterObject {
  readonly data?: Readonly<Record<string, string>>;
}

export interface HubFiles {
  readonly files: Files;
  /** `sha256:<hex>` of the files. */
  readonly hash: string;
  readonly annotations?: Readonly<Record<string, string>>;
  /** Records of the operator, by keys that begin with a dot: they are no files of the hub. */
  readonly notes?: Readonly<Record<string, string>>;
}

/** @throws NameConflict, ObjectRejected */
export async function writeHubConfigMap(
  { applier }: Pick<Services, 'applier'>,
  hub: Hub,
  name: string,
  { files, hash, annotations = {}, notes = {} }: HubFiles,
): Promise<void> {
  await applier.apply(
    builtin.ConfigMap,
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {
        name,
        namespace: hub.metadata.namespace,
        annotations: { [operatorAnnotations.contentHash]: hash, ...annotations },
      },
      data: { ...files, [HASH_FILE]: hash, ...notes },
    },
    { owner: hub },
  );
}
