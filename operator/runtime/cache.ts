import type { Clock } from '../base/clock';
import type { Logger } from '../base/log';
import { Informer, type InformerOptions } from './informer';
import { objectKey } from './object-key';
import type { ClusterObject, ResourceType } from './objects';
import type { ApiClient } from './api-client';
import { Timer } from '../base/timer';
import { builtin } from './types';
import { WATCH_IDLE_TIMEOUT } from './watch-stream';

export type WatchOptions<T extends ClusterObject> = Pick<
  InformerOptions<T>,
  'annotationPrefix' | 'indexBy' | 'labelSelector' | 'metadataOnly' | 'onChange' | 'transform'
>;

export interface CacheOptions {
  readonly cluster: ApiClient;
  readonly clock: Clock;
  readonly log: Logger;
  /** Empty: all namespaces. */
  readonly namespaces: readonly string[];
  /** Label selector of namespaces, instead of their names. */
  readonly namespaceSelector?: string;
  /** Freeze all objects, so that a mutation throws: for tests. */
  readonly freeze: boolean;
  readonly onFailure: (type: ResourceType, error: unknown) => void;
}

/** Milliseconds. A watch that is idle for longer is stuck: idle timeout and backoff are both less than half of it. */
const STUCK = 2 * WATCH_IDLE_TIMEOUT;

export const hubKey = (namespace: string, hubName: string): string => `${namespace}/${hubName}`;

/** Milliseconds. Namespaces that are labelled together cause one list of each kind. */
const SELECTION_PAUSE = 200;

/** The cache of the cluster's objects: one informer per watched kind and namespace (rules.md, "Watches and cache"). */
export class Cache {
  private readonly informers = new Map<string, Informer<ClusterObject>[]>();
  /** The namespaces that the label selector selects. */
  private readonly selected: Informer<ClusterObject> | undefined;

  constructor(private readonly options: CacheOptions) {
    const { clock, namespaceSelector: labelSelector, ...shared } = options;
    if (!labelSelector) return;
    const relist = new Timer(clock);
    this.selected = new Informer({
      ...shared,
      clock,
      type: builtin.Namespace,
      labelSelector,
      metadataOnly: true,
      onChange: ({ type }) => {
        if (type !== 'modified') relist.set(SELECTION_PAUSE, () => this.relist());
      },
    });
    this.informers.set(builtin.Namespace.kind, [this.selected]);
    this.selected.start();
  }

  /** Starts to watch a kind. @throws Error the kind is watched already */
  watch<T extends ClusterObject>(type: ResourceType, watch: WatchOptions<T>): void {
    if (this.informers.has(type.kind)) throw new Error(`cannot watch ${type.kind}: it is watched already`);
    const { namespaces, ...shared } = this.options;
    const { selected } = this;
    const selects = (namespace: string) =>
      selected!.store.get(objectKey(builtin.Namespace.kind, '', namespace)) !== undefined;
    const informers = (namespaces.length > 0 ? namespaces : [undefined]).map((namespace) => {
      const options: InformerOptions<T> = {
        ...shared,
        ...watch,
        type,
        ...(namespace && { namespace }),
        ...(selected && { selects }),
      };
      return new Informer<T>(options);
    });
    this.informers.set(type.kind, informers as unknown as Informer<ClusterObject>[]);
    const start = () => informers.forEach((informer) => informer.start());
    if (selected) void selected.waitForCacheSync().then(start);
    else start();
  }

  watches(kind: string): boolean {
    return this.informers.has(kind);
  }

  get<T extends ClusterObject>(kind: string, namespace: string, name: string): T | undefined {
    const key = objectKey(kind, namespace, name);
    for (const { store } of this.of(kind)) {
      const object = store.get(key);
      if (object) return object as T;
    }
    return undefined;
  }

  *list<T extends ClusterObject>(kind: string, namespace?: string): Generator<T> {
    for (const { store } of this.of(kind)) {
      for (const object of store.values()) {
        if (namespace === undefined || object.metadata.namespace === namespace) yield object as T;
      }
    }
  }

  /** The resources of a kind that belong to a Hub, if the kind is watched with {@link hubKey} as its index. */
  *ofHub<T extends ClusterObject>(kind: string, namespace: string, hubName: string): Generator<T> {
    for (const { store } of this.of(kind)) yield* store.byIndex(hubKey(namespace, hubName)) as Generator<T>;
  }

  /** The resources of {@link ofHub} whose status has this text in this field, such as the id of an object. */
  *ofHubByStatus<T extends ClusterObject>(
    kind: string,
    namespace: string,
    hubName: string,
    field: string,
    text: string,
  ): Generator<T> {
    for (const { store } of this.of(kind))
      yield* store.byStatus(hubKey(namespace, hubName), field, text) as Generator<T>;
  }

  /**
   * Records the server's answer to a write of ours, so that the next reconcile does not read an older object. It is
   * delivered as a change at once; the watch event that follows is no further change. Returns the newest known object.
   */
  recordWrite<T extends ClusterObject>(object: T): T {
    const informer = this.of(object.kind ?? '').find((each) => each.covers(object.metadata.namespace));
    return informer ? (informer as unknown as Informer<T>).recordWrite(object) : object;
  }

  async waitForCacheSync(): Promise<void> {
    await Promise.all(this.all().map((informer) => informer.waitForCacheSync()));
  }

  /** The kinds without a complete first list, and the server's last error, such as a missing permission. */
  unsynced(): { readonly kind: string; readonly lastError: string | undefined }[] {
    return [...this.informers].flatMap(([kind, informers]) => {
      const missing = informers.filter(({ synced }) => !synced);
      const lastError = missing.find((informer) => informer.lastError !== undefined)?.lastError;
      return missing.length > 0 ? [{ kind, lastError }] : [];
    });
  }

  /** The number of cached objects by kind. */
  sizes(): ReadonlyMap<string, number> {
    const sizes = [...this.informers].map(
      ([kind, informers]) => [kind, informers.reduce((sum, { store }) => sum + store.size, 0)] as const,
    );
    return new Map(sizes);
  }

  stuck(): string[] {
    return [...this.informers]
      .filter(([, informers]) => informers.some((informer) => informer.idleFor() > STUCK))
      .map(([kind]) => kind);
  }

  async stop(): Promise<void> {
    await Promise.all(this.all().map((informer) => informer.stop()));
  }

  /** Namespaces have got the label, or lost it. Their objects are as if they had just been made, or were gone. */
  private relist(): void {
    for (const informer of this.all()) if (informer !== this.selected) informer.relist();
  }

  private of(kind: string): readonly Informer<ClusterObject>[] {
    return this.informers.get(kind) ?? [];
  }

  private all(): Informer<ClusterObject>[] {
    return [...this.informers.values()].flat();
  }
}
