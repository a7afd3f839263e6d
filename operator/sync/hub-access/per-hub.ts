import type { Hub } from '../../kinds/index';
import type { Cache } from '../../runtime/cache';

type Identity = Pick<Hub['metadata'], 'namespace' | 'name' | 'uid'>;

/** State of Hubs between reconciles, by their uid. Each new entry removes those of deleted Hubs. */
export class PerHub<T> {
  private readonly entries = new Map<string, { readonly of: Identity; readonly value: T }>();

  /** @param onGone called with the state of a deleted Hub when it is removed */
  constructor(
    private readonly cache: Pick<Cache, 'get'>,
    private readonly onGone: (value: T) => void = () => undefined,
  ) {}

  get size(): number {
    return this.entries.size;
  }

  get({ metadata: { uid } }: Hub): T | undefined {
    return this.entries.get(uid)?.value;
  }

  set({ metadata: { namespace, name, uid } }: Hub, value: T): void {
    this.removeGone();
    this.entries.set(uid, { of: { namespace, name, uid }, value });
  }

  delete({ metadata: { uid } }: Hub): void {
    this.entries.delete(uid);
  }

  /** Removes the state of deleted Hubs. */
  removeGone(): void {
    for (const { of, value } of this.entries.values()) {
      if (!this.isGone(of)) continue;
      this.entries.delete(of.uid);
      this.onGone(value);
    }
  }

  private isGone({ namespace, name, uid }: Identity): boolean {
    return this.cache.get<Hub>('Hub', namespace, name)?.metadata.uid !== uid;
  }
}
