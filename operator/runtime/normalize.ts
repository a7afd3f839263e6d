import { deepFreeze } from './deep-freeze';
import { apiVersionOf, type ClusterObject, type ResourceType } from './objects';

export interface NormalizeOptions<T extends ClusterObject> {
  readonly type: ResourceType;
  /** Ask for metadata alone: for Secrets and ConfigMaps, whose contents must not be kept in memory. */
  readonly metadataOnly?: boolean;
  /** Maps each object as it came from the server, with its `managedFields`, to what is kept. */
  readonly transform?: (object: T) => T;
  /** Freeze what is kept, so that a mutation throws: for tests. */
  readonly freeze?: boolean;
}

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** An object of the server as the cache keeps it: with its kind, without what nobody here reads (half of a small object). */
export function normalize<T extends ClusterObject>(
  object: T,
  { freeze, metadataOnly, transform, type }: NormalizeOptions<T>,
): T {
  const transformed = transform ? transform(object) : object;
  const metadata: Record<string, unknown> = { ...transformed.metadata };
  delete metadata['managedFields'];
  if (metadataOnly) {
    delete metadata['annotations']; // kubectl keeps a copy of the whole Secret in one
  } else if (transformed.metadata.annotations?.[LAST_APPLIED] !== undefined) {
    const { [LAST_APPLIED]: _, ...annotations } = transformed.metadata.annotations;
    metadata['annotations'] = annotations;
  }
  const normalized = {
    ...(metadataOnly ? ({} as T) : transformed), // the answer to a write of ours has the contents, too
    apiVersion: apiVersionOf(type),
    kind: type.kind,
    metadata,
  };
  return freeze ? deepFreeze(normalized) : normalized;
}
