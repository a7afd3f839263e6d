import { deepFreeze } from './deep-freeze';
import { apiVersionOf, type ClusterObject, type ResourceType } from './objects';

export interface NormalizeOptions<T extends ClusterObject> {
  readonly type: ResourceType;
  /** Cache only metadata: for Secrets and ConfigMaps, whose contents must not be kept in memory. */
  readonly metadataOnly?: boolean;
  /** Maps each object of the server, including its `managedFields`, to the cached object. */
  readonly transform?: (object: T) => T;
  /** Freeze cached objects, so that a mutation throws: for tests. */
  readonly freeze?: boolean;
}

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/**
 * The cached form of an object: with its kind, without `managedFields` and other unused parts (half of a small object).
 */
export function normalize<T extends ClusterObject>(
  object: T,
  { freeze, metadataOnly, transform, type }: NormalizeOptions<T>,
): T {
  const transformed = transform ? transform(object) : object;
  const metadata: Record<string, unknown> = { ...transformed.metadata };
  delete metadata['managedFields'];
  if (metadataOnly) {
    delete metadata['annotations']; // `last-applied-configuration` of kubectl contains the whole Secret
  } else if (transformed.metadata.annotations?.[LAST_APPLIED] !== undefined) {
    const { [LAST_APPLIED]: _, ...annotations } = transformed.metadata.annotations;
    metadata['annotations'] = annotations;
  }
  const normalized = {
    ...(metadataOnly ? ({} as T) : transformed), // the answer to a write contains the whole object
    apiVersion: apiVersionOf(type),
    kind: type.kind,
    metadata,
  };
  return freeze ? deepFreeze(normalized) : normalized;
}
