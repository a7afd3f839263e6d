import type { Hub } from '../kinds/index';
import type { Cache } from '../runtime/cache';

type Identity = Pick<Hub['metadata'], 'namespace' | 'name' | 'uid'>;

/** State of Hubs between reconciles, by their uid. Each new entry removes those of deleted Hubs. */
export class PerHub<T> {
  private readonly entries = new Map<string, { readonly of: Identity; readonly value: T }>();

  constructor(private readonly cache: Pick<Cache, 'get'>) {}

  get size(): number {
    return this.entries.size;
  }

  get({ metadata: { uid } }: Hub): T | undefined {
    return this.entries.get(uid)?.value;
  }

  set({ metadata: { namespace, name, uid } }: Hub, value: T): void {
    for (const { of } of this.entries.values()) if (this.isGone(of)) this.entries.delete(of.uid);
    this.entries.set(uid, { of: { namespace, name, uid }, value });
  }

  delete({ metadata: { uid } }: Hub): void {
    this.entries.delete(uid);
  }

  private isGone({ namespace, name, uid }: Identity): boolean {
    return this.cache.get<Hub>('Hub', namespace, name)?.metadata.uid !== uid;
  }
}
