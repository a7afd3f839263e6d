import type { Clock } from '../base/clock';
import type { Logger } from '../base/log';
import { Rate } from '../base/timer';
import { Informer } from './informer';
import type { InformerOptions } from './informer-options';
import { NamespaceSelection } from './namespace-selection';
import { objectKey } from './object-key';
import type { ClusterObject, ResourceType } from './objects';
import type { ApiClient } from './api-client';
import { versionOf } from './store';
import { builtin } from './types';
import { WATCH_IDLE_TIMEOUT } from './watch-stream';

type WatchOptions<T extends ClusterObject> = Pick<
  InformerOptions<T>,
  'annotationPrefix' | 'indexBy' | 'labelSelector' | 'metadataOnly' | 'onChange' | 'transform'
>;

interface CacheOptions {
  readonly cluster: ApiClient;
  readonly clock: Clock;
  readonly log: Logger;
  /** The watched namespaces. An empty list stands for all. */
  readonly namespaces: readonly string[];
  /** Label selector of the watched namespaces, used instead of `namespaces`. */
  readonly namespaceSelector?: string;
  /** Freeze all objects, so that a mutation throws: for tests. */
  readonly freeze: boolean;
  readonly onFailure: (type: ResourceType, error: unknown) => void;
}

/**
 * Milliseconds. A watch that is idle for longer is stuck: the idle timeout and the longest backoff are each
 * less than half of this.
 */
const STUCK = 2 * WATCH_IDLE_TIMEOUT;

/**
 * Milliseconds. An API server that lags behind others sends outdated bookmarks repeatedly, which cause one
 * check in this time.
 */
const OLD_BOOKMARK_PAUSE = 30 * 60_000;

export const hubKey = (namespace: string, hubName: string): string => `${namespace}/${hubName}`;

/** The cache of the cluster's objects: one informer per watched kind and namespace (rules.md, "Watches and cache"). */
export class Cache {
  private readonly informers = new Map<string, Informer<ClusterObject>[]>();
  private readonly selection: NamespaceSelection | undefined;
  /** Pending after the API server was restored from a backup, until all kinds have been listed again. */
  private restoring: Promise<void> | undefined;
  private readonly oldBookmarks: Rate;

  constructor(private readonly options: CacheOptions) {
    const { namespaceSelector: labelSelector } = options;
    this.oldBookmarks = new Rate(options.clock, OLD_BOOKMARK_PAUSE);
    if (!labelSelector) return;
    this.selection = new NamespaceSelection({
      ...options,
      labelSelector,
      onRestore: () => this.relistRestored(),
      onOldBookmark: () => this.examine(),
      relist: () => this.relist(),
      drop: (namespace) => this.drop(namespace),
    });
    this.informers.set(builtin.Namespace.kind, [this.selection.informer]);
  }

  /** Starts to watch a kind. @throws Error the kind is watched already */
  watch<T extends ClusterObject>(type: ResourceType, watch: WatchOptions<T>): void {
    if (this.informers.has(type.kind)) throw new Error(`cannot watch ${type.kind}: it is watched already`);
    const { namespaces, ...shared } = this.options;
    const { selection } = this;
    const informers = (namespaces.length > 0 ? namespaces : [undefined]).map((namespace) => {
      const options: InformerOptions<T> = {
        ...shared,
        ...watch,
        type,
        ...(namespace && { namespace }),
        ...(selection && { selects: (of: string) => selection.selects(of) }),
        onRestore: () => this.relistRestored(),
        onOldBookmark: () => this.examine(),
      };
      return new Informer<T>(options);
    });
    this.informers.set(type.kind, informers as unknown as Informer<ClusterObject>[]);
    const start = () => informers.forEach((informer) => informer.start());
    if (selection) void selection.informer.waitForCacheSync().then(start);
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

  /**
   * The resources of {@link ofHub} that have this text in a field of their status, such as the id of an
   * object.
   */
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
   * Records the response to a write, so that the next reconcile does not read an older object. It is reported
   * as a change at once; the watch event that follows is not reported again. @returns the newest known object
   */
  recordWrite<T extends ClusterObject>(object: T): T {
    const informer = this.of(object.kind ?? '').find((each) => each.covers(object.metadata.namespace));
    return informer ? (informer as unknown as Informer<T>).recordWrite(object) : object;
  }

  /**
   * Records the response to a read that was sent when the cache had `known`. An older state of the same
   * object proves that the API server was restored from a backup. @returns the newest state
   */
  recordRead<T extends ClusterObject>(object: T, known: T): T {
    if (object.metadata.uid !== known.metadata.uid || versionOf(object) >= versionOf(known))
      return this.recordWrite(object);
    this.relistRestored();
    return object;
  }

  /**
   * Resolves when the cache has all objects of a namespace, and all kinds were listed since the namespace was
   * selected or the API server restored. @returns undefined if the cache has them
   */
  waitForNamespace(namespace: string): Promise<void> | undefined {
    return this.restoring ?? this.selection?.waitForNamespace(namespace);
  }

  async waitForCacheSync(): Promise<void> {
    await Promise.all(this.all().map((informer) => informer.waitForCacheSync()));
  }

  /** The kinds without a complete first list, and the last error, such as a missing permission. */
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

  /** Lists all kinds again. Resolves when every list has arrived. */
  private async relist(): Promise<void> {
    await Promise.all(this.watched().map((informer) => informer.relist()));
  }

  /**
   * Lists all kinds again after a bookmark that is older than the cache. The bookmark alone does not prove a
   * restore from a backup, since several API servers or etcd members may differ in progress. A list of one of
   * the kinds proves it.
   */
  private examine(): void {
    if (this.restoring || this.oldBookmarks.add() > 1) return;
    for (const informer of this.all()) void informer.relist();
  }

  private relistRestored(): void {
    if (this.restoring) return;
    this.options.log.warn({}, 'the API server was restored from a backup, listing all objects again');
    const lists = this.all().map((informer) => informer.relistRestored());
    this.restoring = Promise.all(lists).then(() => (this.restoring = undefined));
  }

  /**
   * Removes a namespace that has lost the label. All stores are changed before the first handler is called,
   * so that no handler sees only part of the removal.
   */
  private drop(namespace: string): void {
    const reports = this.watched().map((informer) => informer.drop(namespace));
    for (const report of reports) report();
  }

  private watched(): Informer<ClusterObject>[] {
    return this.all().filter((informer) => informer !== this.selection?.informer);
  }

  private of(kind: string): readonly Informer<ClusterObject>[] {
    return this.informers.get(kind) ?? [];
  }

  private all(): Informer<ClusterObject>[] {
    return [...this.informers.values()].flat();
  }
}
