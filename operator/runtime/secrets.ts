import type { Cache } from './cache';
import { type ObjectKey, objectKey } from './object-key';
import type { ClusterObject } from './objects';
import type { ApiClient } from './api-client';
import { builtin } from './types';

interface Secret extends ClusterObject {
  /** base64 */
  readonly data?: Readonly<Record<string, string>>;
}

interface Read {
  readonly resourceVersion: string | undefined;
  readonly data: ReadonlyMap<string, string>;
}

/**
 * Reads Secrets on demand. Their metadata is watched, so that no request is necessary for a missing Secret or for one
 * that has not changed since it was read.
 */
export class SecretReader {
  private readonly read = new Map<ObjectKey, Read>();

  constructor(
    private readonly cluster: ApiClient,
    private readonly cache: Cache,
  ) {}

  /** The decoded values by key; undefined: the Secret does not exist. */
  async get(namespace: string, name: string): Promise<ReadonlyMap<string, string> | undefined> {
    const key = objectKey(builtin.Secret.kind, namespace, name);
    const known = this.cache.get(builtin.Secret.kind, namespace, name);
    if (!known) {
      this.read.delete(key);
      return undefined;
    }
    const before = this.read.get(key);
    if (before && before.resourceVersion === known.metadata.resourceVersion) return before.data;
    const secret = await this.cluster.find<Secret>(builtin.Secret, namespace, name);
    if (!secret) {
      this.read.delete(key);
      return undefined;
    }
    const data = new Map(
      Object.entries(secret.data ?? {}).map(([field, value]) => [
        field,
        Buffer.from(value, 'base64').toString('utf8'),
      ]),
    );
    // A Secret that was deleted before the answer arrived must not be kept: no event would remove it.
    if (this.exists(namespace, name))
      this.read.set(key, { resourceVersion: secret.metadata.resourceVersion, data });
    return data;
  }

  /** Forgets the values of a deleted Secret. */
  forget({ metadata: { namespace = '', name } }: ClusterObject): void {
    this.read.delete(objectKey(builtin.Secret.kind, namespace, name));
  }

  /** Whether the Secret exists, according to the cache. */
  exists(namespace: string, name: string): boolean {
    return this.cache.get(builtin.Secret.kind, namespace, name) !== undefined;
  }
}
