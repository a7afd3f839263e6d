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
 * Reads Secrets on demand. Their metadata is watched, so that one that is not there costs no request, and one that
 * was read before and did not change costs none either.
 */
export class SecretReader {
  private readonly read = new Map<ObjectKey, Read>();

  constructor(
    private readonly cluster: ApiClient,
    private readonly cache: Cache,
  ) {}

  /** The decoded values by key; undefined when there is no such Secret. */
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
    // It may have gone while the answer was on its way, and nobody would ever forget it then.
    if (this.exists(namespace, name))
      this.read.set(key, { resourceVersion: secret.metadata.resourceVersion, data });
    return data;
  }

  /** A Secret was seen to go: its values are kept no longer than itself. */
  forget({ metadata: { namespace = '', name } }: ClusterObject): void {
    this.read.delete(objectKey(builtin.Secret.kind, namespace, name));
  }

  /** Whether it exists, from memory. */
  exists(namespace: string, name: string): boolean {
    return this.cache.get(builtin.Secret.kind, namespace, name) !== undefined;
  }
}
