import { CombinedSignal } from '../base/deadline';
import { errorOf, Stopping } from '../base/errors';
import { Timer } from '../base/timer';
import type { ApiClient, Query } from './api-client';
import { ApiError, ApiServerUnreachable, isGone } from './api-errors';
import { backoffDelay } from './backoff';
import type { InformerOptions } from './informer-options';
import { normalize } from './normalize';
import { objectKeyOf } from './object-key';
import { type ClusterObject, pathOf } from './objects';
import { type Change, Store } from './store';
import { watchEvents, WatchIdleTimeout } from './watch-stream';

interface Page<T> {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
  /** Null for an empty list of metadata, as the API server writes it. */
  readonly items: readonly T[] | null;
}

/**
 * How the list is requested: streamed as the beginning of a watch or, if the API server cannot do that, in
 * pages.
 */
type ListPhase = { readonly type: 'streaming-list' } | { readonly type: 'paging' };

/** The next step of the informer. */
type Phase =
  | ListPhase
  | {
      readonly type: 'watching';
      /** The resource version from which the watch continues. */
      readonly from: string;
      /**
       * Whether the previous watch ended by the idle timeout: the next one must prove that the connection is
       * alive.
       */
      readonly wasIdle: boolean;
    };

/**
 * Seconds after which the API server ends a watch, plus a random part up to as much again. A new watch costs
 * little and proves that the connection is alive.
 */
const WATCH_SECONDS = 300;
/** Objects per page. A page is in memory as a whole, and one object may have 1.5 MiB. */
const PAGE = 25;
/** Nesting depth at which the items of a list begin. */
const LISTED_OBJECT_DEPTH = 3;
/** Milliseconds after which a streamed list is abandoned and requested in pages. */
const STREAMED_LIST_DEADLINE = 60_000;
const RETRY_FIRST = 200;
const RETRY_LAST = 30_000;
/** Milliseconds. A watch that the server ends sooner counts as a failure, so that it is retried with backoff. */
const SHORTEST_WATCH = 1_000;
/** Annotation of the bookmark that ends a streamed list. Other bookmarks may precede it. */
const END_OF_LIST = 'k8s.io/initial-events-end';

/**
 * Keeps a {@link Store} equal to one list of the API server and reports each change once, including deletions
 * while the watch was disconnected. Every error is retried with exponential backoff and without a limit.
 */
export class Informer<T extends ClusterObject> {
  readonly store: Store<T>;
  private readonly stopping = new AbortController();
  /** The current attempt to list and watch. */
  private attempt = new CombinedSignal(this.stopping.signal);
  private isRelistDue = false;
  private readonly onReplaced: (() => void)[] = [];
  private readonly firstSync: Promise<void>;
  private announceSync!: () => void;
  private running: Promise<void> | undefined;
  private phase: Phase = { type: 'streaming-list' };
  private relistBy: ListPhase = { type: 'streaming-list' };
  private isSynced = false;
  private lastErrorText: string | undefined;
  /** The time of the last activity of the watch, by the monotonic clock. */
  private lastActivity: number;
  /** Time at which the current attempt received its list or opened its watch, by the monotonic clock. */
  private goodSince: number | undefined;

  constructor(private readonly options: InformerOptions<T>) {
    this.store = new Store<T>(options.indexBy);
    this.lastActivity = options.clock.monotonic();
    this.firstSync = new Promise((resolve) => (this.announceSync = resolve));
  }

  start(): void {
    this.running ??= this.run();
  }

  async stop(): Promise<void> {
    this.stopping.abort(new Stopping('the watch was stopped'));
    await this.running;
  }

  /** Lists all objects again. Resolves when the list has replaced the content of the store. */
  relist(): Promise<void> {
    const replaced = new Promise<void>((resolve) => this.onReplaced.push(resolve));
    if (this.running) {
      this.isRelistDue = true;
      this.attempt.abort(new Stopping('the list is requested again'));
    }
    return replaced;
  }

  /** Like {@link relist}, after the API server was restored from a backup. */
  relistRestored(): Promise<void> {
    this.store.distrust();
    this.isSynced = false;
    return this.relist();
  }

  /**
   * Removes the objects of a namespace from the store. @returns a function that reports the removal to the
   * handler
   */
  drop(namespace: string): () => void {
    const changes = this.store.drop(namespace);
    return () => this.notify(changes);
  }

  /** Whether a list has arrived, and no further one is due because the API server was restored. */
  get synced(): boolean {
    return this.isSynced;
  }

  /** The message of the last error of list or watch; undefined once a list has arrived. */
  get lastError(): string | undefined {
    return this.lastErrorText;
  }

  /** Resolves when the first list has arrived. */
  waitForCacheSync(): Promise<void> {
    return this.firstSync;
  }

  /** Milliseconds since the last data or the last attempt. A large number means that the watch is stuck. */
  idleFor(): number {
    return this.options.clock.monotonic() - this.lastActivity;
  }

  /** Whether the list includes objects of that namespace. */
  covers(namespace: string | undefined): boolean {
    return this.options.namespace === undefined || this.options.namespace === namespace;
  }

  /**
   * Records the response to a write, which may be newer than the watch. It is reported like any other change,
   * because it may include changes of other clients. @returns the newest known state of the object
   */
  recordWrite(object: T): T {
    const normalized = this.normalize(object);
    if (!this.selects(object)) return normalized;
    this.notify(this.store.recordWrite(normalized));
    const known = this.store.get(objectKeyOf(normalized));
    return known?.metadata.uid === normalized.metadata.uid ? known! : normalized;
  }

  private async run(): Promise<void> {
    const { clock } = this.options;
    let failures = 0;
    while (!this.stopping.signal.aborted) {
      this.lastActivity = clock.monotonic();
      this.goodSince = undefined;
      this.attempt = new CombinedSignal(this.stopping.signal);
      if (this.isRelistDue) this.phase = this.relistBy;
      this.isRelistDue = false;
      const error = await this.listAndWatch().then(
        () => undefined,
        (reason: unknown) => errorOf(reason),
      );
      this.attempt.dispose();
      if (this.stopping.signal.aborted) return;
      if (this.isRelistDue) continue;
      const isGood = this.goodSince !== undefined && clock.monotonic() - this.goodSince >= SHORTEST_WATCH;
      this.onEnd(error);
      if (isGood && (error === undefined || error instanceof WatchIdleTimeout)) {
        failures = 0; // the API server ended the watch as requested, or the idle timeout did
        continue;
      }
      // The watch was open for a while, so the API server works: an occasional disconnect must not increase
      // the backoff.
      failures = isGood ? 1 : failures + 1;
      const asked = error instanceof ApiError ? (error.retryAfter ?? 0) : 0;
      await this.pause(Math.max(asked, backoffDelay(failures, RETRY_FIRST, RETRY_LAST)));
    }
  }

  /** Determines the next phase after an error. */
  private onEnd(error: Error | undefined): void {
    const { log, onFailure, type } = this.options;
    const { phase } = this;
    if (error === undefined) return;
    if (isGone(error)) {
      this.phase = this.relistBy;
      log.debug({ kind: type.kind }, 'watch expired, listing again');
      return;
    }
    if (error instanceof WatchIdleTimeout && phase.type === 'watching') {
      if (!phase.wasIdle) {
        this.phase = { ...phase, wasIdle: true };
        log.debug({ kind: type.kind }, 'watch was idle, watching again from the same version');
        return;
      }
      // After a restore from a backup, a watch would wait for a resource version in the future. Only a list
      // detects that.
      this.phase = this.relistBy;
    }
    this.lastErrorText = error.message;
    onFailure?.(type, error);
    log.warn({ kind: type.kind, error }, 'watch failed, retrying');
  }

  private async pause(delay: number): Promise<void> {
    await this.options.clock.sleep(delay, this.stopping.signal).catch(() => undefined); // rejected by stop()
  }

  private async listAndWatch(): Promise<void> {
    if (this.phase.type === 'streaming-list') {
      try {
        return await this.watchWithList();
      } catch (error) {
        if (error instanceof StreamedListTimeout) this.phase = { type: 'paging' };
        else if (error instanceof ApiError && (error.status === 400 || error.status === 422)) {
          // The API server is older, or its feature gate WatchList is disabled.
          this.phase = this.relistBy = { type: 'paging' };
        } else throw error;
      }
    }
    if (this.phase.type === 'paging') await this.listPages();
    if (this.phase.type === 'watching') await this.watchFrom(this.phase.from);
  }

  private async listPages(): Promise<void> {
    const { cluster, fieldSelector, labelSelector, namespace, type } = this.options;
    const items: T[] = [];
    let page: Page<T> | undefined;
    do {
      page = await cluster.request<Page<T>>({
        method: 'GET',
        path: pathOf(type, namespace),
        query: { limit: PAGE, continue: page?.metadata.continue, labelSelector, fieldSelector },
        accept: this.accept('PartialObjectMetadataList'),
        objectDepth: LISTED_OBJECT_DEPTH,
        signal: this.attempt.signal,
      });
      this.attempt.signal.throwIfAborted();
      for (const item of page.items ?? []) if (this.selects(item)) items.push(this.normalize(item));
    } while (page.metadata.continue);
    this.goodSince ??= this.options.clock.monotonic();
    this.replace(items, page.metadata.resourceVersion);
  }

  private replace(items: Iterable<T>, version: string): void {
    this.phase = { type: 'watching', from: version, wasIdle: false };
    this.lastActivity = this.options.clock.monotonic();
    // A namespace may have lost its label since the list was requested.
    const selected = [...items].filter((item) => this.selects(item));
    const isRestored = this.store.provesRestore(selected, version);
    const changes = this.store.replace(selected, version, isRestored);
    const requests = this.onReplaced.splice(0);
    this.isSynced = true;
    this.lastErrorText = undefined;
    if (isRestored) this.options.onRestore?.(); // may request another list, before the changes are handled
    this.notify(changes);
    this.announceSync();
    for (const resolve of requests) resolve();
  }

  /**
   * Opens a watch that begins with the whole list. The list replaces the content of the store when it is
   * complete.
   */
  private async watchWithList(): Promise<void> {
    // Separate from the store: an object that is deleted while the list is streamed must disappear from both.
    let list: Store<T> | undefined = new Store<T>();
    const deadline = new Timer(this.options.clock);
    try {
      const query = { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' };
      const stream = await this.open(query);
      deadline.set(STREAMED_LIST_DEADLINE, () => stream.destroy(new StreamedListTimeout()));
      for await (const { type, object } of this.events(stream)) {
        if (!list) this.take(type, object);
        else if (type === 'DELETED') list.remove(this.normalize(object));
        else if (type !== 'BOOKMARK') {
          if (this.selects(object)) list.put(this.normalize(object));
        } else if (object.metadata.annotations?.[END_OF_LIST] === 'true') {
          deadline.clear();
          this.replace(list.values(), object.metadata.resourceVersion!);
          list = undefined;
        }
      }
    } finally {
      deadline.clear();
    }
    if (list) throw new ApiServerUnreachable('the server ended the streamed list before its end');
  }

  private async watchFrom(resourceVersion: string): Promise<void> {
    const stream = await this.open({ resourceVersion });
    for await (const { type, object } of this.events(stream)) this.take(type, object);
  }

  private async open(query: Query) {
    const { clock, cluster, fieldSelector, labelSelector, namespace, type } = this.options;
    const timeoutSeconds = Math.round(WATCH_SECONDS * (1 + Math.random()));
    const stream = await cluster.stream({
      method: 'GET',
      path: pathOf(type, namespace),
      query: {
        watch: true,
        allowWatchBookmarks: true,
        timeoutSeconds,
        labelSelector,
        fieldSelector,
        ...query,
      },
      accept: this.accept('PartialObjectMetadata'),
      signal: this.attempt.signal,
    });
    this.goodSince ??= clock.monotonic();
    return stream;
  }

  private async *events(stream: Awaited<ReturnType<ApiClient['stream']>>) {
    const { clock } = this.options;
    for await (const event of watchEvents<T>(stream, clock, () => (this.lastActivity = clock.monotonic()))) {
      this.attempt.signal.throwIfAborted(); // events may follow the one that ended this attempt
      yield event;
    }
  }

  private take(type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK', object: T): void {
    const from = object.metadata.resourceVersion!;
    if (type === 'BOOKMARK' && this.store.isOlder(from)) return this.options.onOldBookmark?.();
    if (type === 'DELETED') this.notify(this.store.remove(this.normalize(object)));
    else if (type !== 'BOOKMARK' && this.selects(object)) this.notify(this.store.put(this.normalize(object)));
    this.store.observeVersion(from);
    this.phase = { type: 'watching', from, wasIdle: false };
  }

  /** Reports changes. A handler that throws must not block other changes. */
  private notify(changes: readonly Change<T>[]): void {
    for (const change of changes) {
      try {
        this.options.onChange(change);
      } catch (error) {
        const { log, type } = this.options;
        const { namespace, name } = change.object.metadata;
        log.error({ kind: type.kind, namespace, name, error }, 'handler of object change failed');
      }
    }
  }

  private selects({ metadata: { namespace = '' } }: T): boolean {
    return this.options.selects?.(namespace) ?? true;
  }

  private accept(kind: string): string {
    return this.options.metadataOnly ? `application/json;as=${kind};v=v1;g=meta.k8s.io` : 'application/json';
  }

  private normalize(object: T): T {
    return normalize(object, this.options);
  }
}

/** Thrown when a streamed list does not end, as with some servers. */
class StreamedListTimeout extends ApiServerUnreachable {
  constructor() {
    super(`the streamed list did not end within ${STREAMED_LIST_DEADLINE / 1_000} s`);
  }
}
