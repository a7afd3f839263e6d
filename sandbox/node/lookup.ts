import type {
  V1ConfigMap,
  V1PersistentVolume,
  V1PersistentVolumeClaim,
  V1Secret,
} from '@kubernetes/client-node';

/** What a pod may refer to, read from the node's caches. `undefined`: there is none (or it has not been seen yet). */
export interface Lookup {
  configMap(namespace: string, name: string): V1ConfigMap | undefined;
  secret(namespace: string, name: string): V1Secret | undefined;
  claim(namespace: string, name: string): V1PersistentVolumeClaim | undefined;
  volume(name: string): V1PersistentVolume | undefined;
}

/** A pod refers to something that is not there. The kubelet's words; it is tried again until it appears. */
export class MissingReference extends Error {}

/** Data of a ConfigMap, text and binary alike. */
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
