import { isUtf8 } from 'node:buffer';
import type { Cache } from './cache';
import { type ObjectKey, objectKey } from './object-key';
import type { ClusterObject } from './objects';
import type { ApiClient } from './api-client';
import { builtin } from './types';

interface Secret extends ClusterObject {
  readonly type?: string;
  /** Values in base64, by key. */
  readonly data?: Readonly<Record<string, string>>;
}

export interface SecretContent {
  /** Type of the Secret, such as `Opaque`. */
  readonly type?: string | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** The values as text, by key. */
  readonly values: ReadonlyMap<string, string>;
  /** Keys whose values are not valid UTF-8, so that their text differs from the stored bytes. */
  readonly binary: ReadonlySet<string>;
  /** The stored bytes of the values, by key. */
  readonly bytes: ReadonlyMap<string, Buffer>;
}

interface Read extends SecretContent {
  readonly resourceVersion: string | undefined;
}

/**
 * Reads Secrets on demand. Their metadata is watched, so that no request is necessary for a Secret that does
 * not exist or has not changed since it was read.
 */
export class SecretReader {
  private readonly read = new Map<ObjectKey, Read>();

  constructor(
    private readonly cluster: ApiClient,
    private readonly cache: Cache,
    /** Finishes an interrupted replacement of a Secret that was immutable (`replacement.ts`). */
    private readonly settle: (namespace: string, name: string) => Promise<void> = () => Promise.resolve(),
  ) {}

  /** The decoded values by key; undefined if the Secret does not exist. */
  async get(namespace: string, name: string): Promise<ReadonlyMap<string, string> | undefined> {
    return (await this.find(namespace, name))?.values;
  }

  /** The content of a Secret; undefined if the Secret does not exist. */
  async find(namespace: string, name: string): Promise<SecretContent | undefined> {
    const key = objectKey(builtin.Secret.kind, namespace, name);
    await this.settle(namespace, name);
    const known = this.cache.get(builtin.Secret.kind, namespace, name);
    if (!known) {
      this.read.delete(key);
      return undefined;
    }
    const before = this.read.get(key);
    if (before && before.resourceVersion === known.metadata.resourceVersion) return before;
    const secret = await this.cluster.find<Secret>(builtin.Secret, namespace, name);
    if (!secret) {
      this.read.delete(key);
      return undefined;
    }
    const stored = Object.entries(secret.data ?? {}).map(
      ([field, value]) => [field, Buffer.from(value, 'base64')] as const,
    );
    const content = {
      type: secret.type,
      labels: secret.metadata.labels,
      bytes: new Map(stored),
      values: new Map(stored.map(([field, bytes]) => [field, bytes.toString('utf8')])),
      binary: new Set(stored.filter(([, bytes]) => !isUtf8(bytes)).map(([field]) => field)),
    };
    // The Secret may have been deleted before the response arrived. Its values must then not be kept, since
    // no event would remove them.
    if (this.exists(namespace, name))
      this.read.set(key, { resourceVersion: secret.metadata.resourceVersion, ...content });
    return content;
  }

  /**
   * The values of the last read, without a request; undefined if the Secret was never read or has changed
   * since.
   */
  lastRead(namespace: string, name: string): ReadonlyMap<string, string> | undefined {
    const known = this.cache.get(builtin.Secret.kind, namespace, name);
    const read = this.read.get(objectKey(builtin.Secret.kind, namespace, name));
    return known && read?.resourceVersion === known.metadata.resourceVersion ? read?.values : undefined;
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
