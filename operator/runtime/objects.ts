import type { ResourceMetadata } from '../kinds/resource';

/** The parts of a Kubernetes object that the runtime reads. */
export interface ClusterObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ObjectMeta;
}

/** Metadata of an object that may not be stored yet: only the name is known. */
type ObjectMeta = Pick<ResourceMetadata, 'name'> & Partial<ResourceMetadata>;

/** A resource type of the Kubernetes API. */
export interface ResourceType {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
}

/** The JSON form of a type of @kubernetes/client-node: any field may be absent, and times are strings. */
export type Sent<T> = T extends Date
  ? string
  : T extends readonly (infer Item)[]
    ? readonly Sent<Item>[]
    : T extends object
      ? { readonly [Field in keyof T]?: Sent<T[Field]> }
      : T;

export function apiVersionOf({ group, version }: ResourceType): string {
  return group ? `${group}/${version}` : version;
}

/**
 * The path of an object, such as `/apis/apps/v1/namespaces/home/statefulsets/my-hub/status`. Without a name,
 * the path of the collection.
 */
export function pathOf(type: ResourceType, namespace?: string, name?: string, subresource?: string): string {
  const segments = [type.group ? `/apis/${type.group}/${type.version}` : `/api/${type.version}`];
  if (namespace) segments.push('namespaces', encodeURIComponent(namespace));
  segments.push(type.plural);
  if (name) segments.push(encodeURIComponent(name));
  if (subresource) segments.push(subresource);
  return segments.join('/');
}
