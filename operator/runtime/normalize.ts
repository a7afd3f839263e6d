import { deepFreeze } from './deep-freeze';
import { apiVersionOf, type ClusterObject, type ResourceType } from './objects';

export interface NormalizeOptions<T extends ClusterObject> {
  readonly type: ResourceType;
  /**
   * Whether to cache only metadata, for Secrets and ConfigMaps, whose contents must not be kept in memory.
   */
  readonly metadataOnly?: boolean;
  /** With `metadataOnly`, the prefix of the annotations to cache. By default no annotation is cached. */
  readonly annotationPrefix?: string;
  /** Maps each object from the API server, including its `managedFields`, to the cached object. */
  readonly transform?: (object: T) => T;
  /** Whether to freeze cached objects, so that a mutation throws: for tests. */
  readonly freeze?: boolean;
}

interface Metadata {
  readonly managedFields?: unknown;
  annotations?: Readonly<Record<string, string>> | undefined;
}

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/**
 * The cached form of an object: with its kind, without `managedFields` and other unused parts, which are half
 * of a small object.
 */
export function normalize<T extends ClusterObject>(
  object: T,
  { annotationPrefix, freeze, metadataOnly, transform, type }: NormalizeOptions<T>,
): T {
  const transformed = transform ? transform(object) : object;
  // Destructuring instead of `delete`, after which V8 would keep the object as a hash table of five times the
  // size.
  const { managedFields: _, ...metadata }: Metadata = transformed.metadata;
  const { annotations } = metadata;
  if (metadataOnly) {
    // The annotation `last-applied-configuration` of kubectl would contain the whole Secret.
    metadata.annotations = annotationPrefix ? withPrefix(annotations, annotationPrefix) : undefined;
  } else if (annotations?.[LAST_APPLIED] !== undefined) {
    const { [LAST_APPLIED]: __, ...others } = annotations;
    metadata.annotations = others;
  }
  const normalized = {
    ...(metadataOnly ? ({} as T) : transformed), // the response to a write contains the whole object
    apiVersion: apiVersionOf(type),
    kind: type.kind,
    metadata,
  };
  return freeze ? deepFreeze(normalized) : normalized;
}

function withPrefix(
  annotations: Readonly<Record<string, string>> = {},
  prefix: string,
): Record<string, string> {
  return Object.fromEntries(Object.entries(annotations).filter(([name]) => name.startsWith(prefix)));
}
