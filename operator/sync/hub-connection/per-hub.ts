import type { CustomResource } from '../../kinds/resource';
import type { Hub } from '../../kinds/index';
import type { Cache } from '../../runtime/cache';

type Identity = Pick<CustomResource['metadata'], 'namespace' | 'name' | 'uid'> & Pick<CustomResource, 'kind'>;

/**
 * State of resources between reconciles, by their uid. Adding an entry removes the state of deleted
 * resources.
 */
export class PerResource<R extends CustomResource, T> {
  private readonly entries = new Map<string, { readonly of: Identity; readonly value: T }>();

  /** @param onGone called with the state of a deleted resource when it is removed */
  constructor(
    private readonly cache: Pick<Cache, 'get'>,
    private readonly onGone: (value: T) => void = () => undefined,
  ) {}

  get size(): number {
    return this.entries.size;
  }

  get({ metadata: { uid } }: R): T | undefined {
    return this.entries.get(uid)?.value;
  }

  set({ kind, metadata: { namespace, name, uid } }: R, value: T): void {
    this.removeGone();
    this.entries.set(uid, { of: { kind, namespace, name, uid }, value });
  }

  delete({ metadata: { uid } }: R): void {
    this.entries.delete(uid);
  }

  /** Removes the state of deleted resources. */
  removeGone(): void {
    for (const { of, value } of this.entries.values()) {
      if (!this.isGone(of)) continue;
      this.entries.delete(of.uid);
      this.onGone(value);
    }
  }

  private isGone({ kind, namespace, name, uid }: Identity): boolean {
    return this.cache.get<CustomResource>(kind, namespace, name)?.metadata.uid !== uid;
  }
}

/** State of Hubs between reconciles, see {@link PerResource}. */
export class PerHub<T> extends PerResource<Hub, T> {}
