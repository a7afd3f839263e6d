import type {
  V1ConfigMap,
  V1PersistentVolume,
  V1PersistentVolumeClaim,
  V1Secret,
} from '@kubernetes/client-node';

/**
 * Reads objects that a pod may refer to from the node's caches. `undefined` means that the object does not
 * exist, or is not in the cache yet.
 */
export interface Lookup {
  configMap(namespace: string, name: string): V1ConfigMap | undefined;
  secret(namespace: string, name: string): V1Secret | undefined;
  claim(namespace: string, name: string): V1PersistentVolumeClaim | undefined;
  volume(name: string): V1PersistentVolume | undefined;
}

/**
 * A pod refers to an object or key that does not exist (yet). The message is the kubelet's, and the pod
 * retries.
 */
export class MissingReference extends Error {}

/** Returns `data` and `binaryData` of a ConfigMap as bytes by key. */
export function configMapData(configMap: V1ConfigMap): Record<string, Buffer> {
  const text = Object.entries(configMap.data ?? {}).map(([key, value]) => [key, Buffer.from(value)] as const);
  const binary = decode(configMap.binaryData);
  return Object.fromEntries([...text, ...binary]);
}

export function secretData(secret: V1Secret): Record<string, Buffer> {
  return Object.fromEntries(decode(secret.data));
}

function decode(data: Record<string, string> | undefined): (readonly [string, Buffer])[] {
  return Object.entries(data ?? {}).map(([key, value]) => [key, Buffer.from(value, 'base64')] as const);
}
