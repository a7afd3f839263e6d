import { Stopping } from '../errors';
import type { Readable } from 'node:stream';
import type { Clock } from '../clock';
import type { Logger } from '../log';
import { backoffDelay } from './backoff';
import { apiVersionOf, type ClusterObject, pathOf, type ResourceType } from './objects';
import { objectKeyOf } from './object-key';
import { type Change, type IndexBy, Store } from './store';
import { type ApiClient, ApiError, ApiServerUnreachable, isGone, type Query } from './api-client';

export interface InformerOptions<T extends ClusterObject> {
  readonly cluster: ApiClient;
  readonly clock: Clock;
  readonly log: Logger;
  readonly type: ResourceType;
  /** Absent: all namespaces. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  /** Ask for metadata alone: for Secrets and ConfigMaps, whose contents must not be kept in memory. */
  readonly metadataOnly?: boolean;
  /** Maps each object as it came from the server, with its `managedFields`, to what is kept. */
  readonly transform?: (object: T) => T;
  /** For {@link Store.byIndex}. */
  readonly indexBy?: IndexBy<T>;
  readonly onChange: (change: Change<T>) => void;
  /** Called for each failure of the list or the watch, for metrics. */
  readonly onFailure?: (type: ResourceType, error: unknown) => void;
}

interface WatchEvent<T> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  readonly object: T;
}

interface Page<T> {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
  readonly items: readonly T[];
}

/** The server is asked to end a watch after this long (plus up to as much again): a new one is cheap and proves the way. */
const WATCH_SECONDS = 300;
/** Bookmarks arrive every minute, the first one after two; a connection that is silent for longer is dead. */
export const WATCH_IDLE_TIMEOUT = 150_000;
const PAGE = 500;
const RETRY_FIRST = 200;
const RETRY_LAST = 30_000;
/** A watch that the server ends sooner than this counts as a failure, so that a broken server is not asked in a loop. */
const SHORTEST_WATCH = 1_000;
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';
/** On the bookmark that ends the list at the beginning of a watch; others may come before it. */
const END_OF_LIST = 'k8s.io/initial-events-end';

/**
 * Keeps a {@link Store} equal to one list of the API server and tells each difference once, deletions that happened
 * while it was disconnected included. It never gives up: every error is followed by another try, later and later.
 */
export class Informer<T extends ClusterObject> {
  readonly store: Store<T>;
  private readonly stopping = new AbortController();
  private announceSync!: () => void;
  private readonly firstSync = new Promise<void>((resolve) => (this.announceSync = resolve));
  private running: Promise<void> | undefined;
  /** From where a watch goes on; undefined: only a whole list will do. */
  private resourceVersion: string | undefined;
  private streamsLists = true;
  private isSynced = false;
  private lastErrorText: string | undefined;
  private lastSign: number;

  constructor(private readonly options: InformerOptions<T>) {
    this.store = new Store<T>(options.indexBy);
    this.lastSign = options.clock.monotonic();
  }

  start(): void {
    this.running ??= this.run();
  }

  async stop(): Promise<void> {
    this.stopping.abort(new Stopping('the informer was stopped'));
    await this.running;
  }

  get synced(): boolean {
    return this.isSynced;
  }

  /** What the last list or watch failed by, in the server's words; undefined once a list has arrived. */
  get lastError(): string | undefined {
    return this.lastErrorText;
  }

  /** Resolves when the first list has arrived. */
  waitForCacheSync(): Promise<void> {
    return this.firstSync;
  }

  /** Milliseconds since the server was last heard or tried: a large number means that this watch is stuck. */
  idleFor(): number {
    return this.options.clock.monotonic() - this.lastSign;
  }

  /** Whether objects of that namespace are in its list. */
  covers(namespace: string | undefined): boolean {
    return this.options.namespace === undefined || this.options.namespace === namespace;
  }

  /**
   * Takes the server's answer to a write of ours, which is newer than what the watch has brought; what it changes is
   * told like any other news, since it may hold somebody else's change too. Answers with the newest that is known.
   */
  recordWrite(object: T): T {
    const kept = this.normalize(object);
    this.tell(this.store.recordWrite(kept));
    const known = this.store.get(objectKeyOf(kept));
    return known?.metadata.uid === kept.metadata.uid ? known! : kept;
  }

  private async run(): Promise<void> {
    const { clock } = this.options;
    let failures = 0;
    while (!this.stopping.signal.aborted) {
      const startedAt = clock.monotonic();
      this.lastSign = startedAt;
      const error = await this.listAndWatch().then(
        () => undefined,
        (reason: Error) => reason,
      );
      if (this.stopping.signal.aborted) return;
      const lasted = clock.monotonic() - startedAt;
      if (error === undefined && lasted >= SHORTEST_WATCH) {
        failures = 0; // ended by the server, as it was asked to
        continue;
      }
      // One that stood for a while proves that the server is there: being cut off now and then must not cost more and more.
      failures = lasted >= SHORTEST_WATCH ? 1 : failures + 1;
      this.note(error);
      const asked = error instanceof ApiError ? (error.retryAfter ?? 0) : 0;
      await this.pause(Math.max(asked, backoffDelay(failures, RETRY_FIRST, RETRY_LAST)));
    }
  }

  private note(error: Error | undefined): void {
    const { log, onFailure, type } = this.options;
    if (isGone(error)) {
      this.resourceVersion = undefined;
      log.debug({ kind: type.kind }, 'the watch is too old; listing again');
    } else if (error !== undefined) {
      if (error instanceof WatchIdleTimeout) this.resourceVersion = undefined;
      this.lastErrorText = error.message;
      onFailure?.(type, error);
      log.warn({ kind: type.kind, error: error.message }, 'watch failed; trying again');
    }
  }

  private async pause(delay: number): Promise<void> {
    await this.options.clock.sleep(delay, this.stopping.signal).catch(() => undefined); // only stop() rejects it
  }

  private async listAndWatch(): Promise<void> {
    if (this.resourceVersion === undefined && this.streamsLists) {
      try {
        return await this.watch({ sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' }, []);
      } catch (error) {
        if (!(error instanceof ApiError) || (error.status !== 400 && error.status !== 422)) throw error;
        this.streamsLists = false; // an older server, or one with the feature switched off
      }
    }
    if (this.resourceVersion === undefined) await this.list();
    await this.watch({ resourceVersion: this.resourceVersion });
  }

  private async list(): Promise<void> {
    const { cluster, labelSelector, namespace, type } = this.options;
    const items: T[] = [];
    let page: Page<T> | undefined;
    do {
      page = await cluster.request<Page<T>>({
        method: 'GET',
        path: pathOf(type, namespace),
        query: { limit: PAGE, continue: page?.metadata.continue, labelSelector },
        accept: this.accept('PartialObjectMetadataList'),
        signal: this.stopping.signal,
      });
      for (const item of page.items) items.push(this.normalize(item));
    } while (page.metadata.continue);
    this.replace(items, page.metadata.resourceVersion);
  }

  private replace(items: readonly T[], version: string): void {
    this.resourceVersion = version;
    this.lastSign = this.options.clock.monotonic();
    const changes = this.store.replace(items, version);
    this.isSynced = true;
    this.lastErrorText = undefined;
    this.tell(changes);
    this.announceSync();
  }

  /** Follows the changes until the server ends the watch; `initial` gathers a list that it begins with. */
  private async watch(query: Query, initial?: T[]): Promise<void> {
    const { cluster, labelSelector, namespace, type } = this.options;
    const timeoutSeconds = Math.round(WATCH_SECONDS * (1 + Math.random()));
    const stream = await cluster.stream({
      method: 'GET',
      path: pathOf(type, namespace),
      query: { watch: true, allowWatchBookmarks: true, timeoutSeconds, labelSelector, ...query },
      accept: this.accept('PartialObjectMetadata'),
      signal: this.stopping.signal,
    });
    let list = initial;
    for await (const event of this.events(stream)) {
      if (event.type === 'ERROR') throw statusError(event.object);
      const { annotations, resourceVersion } = event.object.metadata;
      if (!list) {
        if (event.type === 'DELETED') this.tell(this.store.remove(this.normalize(event.object)));
        else if (event.type !== 'BOOKMARK') this.tell(this.store.put(this.normalize(event.object)));
        this.store.observeVersion(resourceVersion!);
        this.resourceVersion = resourceVersion;
      } else if (event.type !== 'BOOKMARK') {
        list.push(this.normalize(event.object));
      } else if (annotations?.[END_OF_LIST] === 'true') {
        this.replace(list, resourceVersion!);
        list = undefined;
      }
    }
    if (list) throw new ApiServerUnreachable('the server ended the first list before its end');
  }

  private async *events(stream: Readable): AsyncGenerator<WatchEvent<T>> {
    const { clock } = this.options;
    const giveUp = () =>
      stream.destroy(new WatchIdleTimeout(`the watch was silent for ${WATCH_IDLE_TIMEOUT / 1_000} s`));
    let cancel = clock.after(WATCH_IDLE_TIMEOUT, giveUp);
    let rest = '';
    const decoder = new TextDecoder();
    try {
      for await (const chunk of stream) {
        cancel();
        cancel = clock.after(WATCH_IDLE_TIMEOUT, giveUp);
        this.lastSign = clock.monotonic();
        const lines = (rest + decoder.decode(chunk as Buffer, { stream: true })).split('\n');
        rest = lines.pop()!;
        for (const line of lines) if (line) yield parseEvent<T>(line);
      }
    } catch (error) {
      if (error instanceof ApiServerUnreachable) throw error;
      throw new ApiServerUnreachable(`the watch broke off: ${String(error)}`, { cause: error });
    } finally {
      cancel();
      stream.destroy();
    }
  }

  /** What cannot be handled of one object must not hold up the news of all others. */
  private tell(changes: readonly Change<T>[]): void {
    for (const change of changes) {
      try {
        this.options.onChange(change);
      } catch (error) {
        const { log, type } = this.options;
        log.error(
          {
            kind: type.kind,
            namespace: change.object.metadata.namespace,
            name: change.object.metadata.name,
            error,
          },
          'a change could not be handled',
        );
      }
    }
  }

  private accept(kind: string): string {
    return this.options.metadataOnly ? `application/json;as=${kind};v=v1;g=meta.k8s.io` : 'application/json';
  }

  /** Drops what nobody here reads: it is half of the memory of a small object. */
  private normalize(object: T): T {
    const { metadataOnly, transform, type } = this.options;
    const transformed = transform ? transform(object) : object;
    const metadata: Record<string, unknown> = { ...transformed.metadata };
    delete metadata['managedFields'];
    if (metadataOnly) {
      delete metadata['annotations']; // kubectl keeps a copy of the whole Secret in one
    } else if (transformed.metadata.annotations?.[LAST_APPLIED] !== undefined) {
      const { [LAST_APPLIED]: _, ...annotations } = transformed.metadata.annotations;
      metadata['annotations'] = annotations;
    }
    return { ...transformed, apiVersion: apiVersionOf(type), kind: type.kind, metadata };
  }
}

/**
 * Nothing came, not even a bookmark: the connection is half open, or the server was restored from a backup and waits
 * for a version that it does not know yet. Only a new list is right in both.
 */
class WatchIdleTimeout extends ApiServerUnreachable {}

function parseEvent<T>(line: string): WatchEvent<T> {
  try {
    return JSON.parse(line) as WatchEvent<T>;
  } catch (error) {
    throw new ApiServerUnreachable('the watch sent a broken line', { cause: error });
  }
}

function statusError(object: unknown): ApiError {
  const status = object as { code?: number; reason?: string; message?: string };
  return new ApiError(status.code ?? 500, status.reason ?? 'Unknown', status.message ?? 'the watch failed');
}
