import type { ClusterObject } from './objects';

/**
 * Identifies an object among all kinds: `<kind>/<namespace>/<name>`. A string, so that it can be a key of a
 * map or of the queue.
 */
export type ObjectKey = `${string}/${string}/${string}`;

export const objectKey = (kind: string, namespace: string, name: string): ObjectKey =>
  `${kind}/${namespace}/${name}`;

/** The key of an object whose `kind` is set, as in all cached objects. */
export const objectKeyOf = ({ kind = '', metadata: { namespace = '', name } }: ClusterObject): ObjectKey =>
  objectKey(kind, namespace, name);

export function parseObjectKey(key: ObjectKey): {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
} {
  const [kind = '', namespace = '', name = ''] = key.split('/');
  return { kind, namespace, name };
}
