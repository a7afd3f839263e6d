import type { Readable } from 'node:stream';
import type { Clock } from '../clock';
import type { Logger } from '../log';
import { backoffDelay } from './backoff';
import { apiVersionOf, type ClusterObject, keyOf, pathOf, type ResourceType } from './objects';
import { type Change, Store } from './store';
import { ApiError, type Cluster, ClusterUnreachable, isGone } from './transport';

export interface InformerOptions<T extends ClusterObject> {
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly log: Logger;
  readonly type: ResourceType;
  /** Absent: all namespaces. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  /** Ask for metadata alone: for Secrets and ConfigMaps, whose contents are nothing to keep. */
  readonly metadataOnly?: boolean;
  readonly onChange: (change: Change<T>) => void;
  /** Called for each failure of the list or the watch, for metrics. */
  readonly onFailure?: (type: ResourceType, error: unknown) => void;
}

interface WatchEvent<T> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  readonly object: T;
}

/** The server is asked to end a watch after this long (plus up to as much again): a new one is cheap and proves the way. */
const WATCH_SECONDS = 300;
/** A bookmark arrives about every minute; a connection that stays silent for longer than two is dead. */
const SILENCE = 130_000;
const PAGE = 500;
const RETRY_FIRST = 200;
const RETRY_LAST = 30_000;
/** A watch that the server ends sooner than this counts as a failure, so that a broken server is not asked in a loop. */
const SHORTEST_WATCH = 1_000;
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/**
 * Keeps a {@link Store} equal to one list of the API server and tells each difference once, deletions that happened
 * while it was disconnected included. It never gives up: every error is followed by another try, later and later.
 */
export class Informer<T extends ClusterObject> {
  readonly store = new Store<T>();
  private readonly stopping = new AbortController();
  private announceSync!: () => void;
  private readonly firstSync = new Promise<void>((resolve) => (this.announceSync = resolve));
  private running: Promise<void> | undefined;
  private resourceVersion: string | undefined;
  private streamsLists = true;
  private isSynced = false;
  private lastSign: number;

  constructor(private readonly options: InformerOptions<T>) {
    this.lastSign = options.clock.now();
  }

  start(): void {
    this.running ??= this.run();
  }

  async stop(): Promise<void> {
    this.stopping.abort(new Error('stopped'));
    await this.running;
  }

  get synced(): boolean {
    return this.isSynced;
  }

  /** Resolves when the first list has arrived. */
  untilSynced(): Promise<void> {
    return this.firstSync;
  }

  /** Milliseconds since the server was last heard or tried: a large number means that this watch is stuck. */
  quietFor(): number {
    return this.options.clock.now() - this.lastSign;
  }

  /** Takes over newer news of an object that is known here, as a watch event would bring it. */
  learn(object: T): void {
    if (this.store.get(keyOf(object))) this.take('MODIFIED', this.prune(object));
  }

  private async run(): Promise<void> {
    const { clock, log, type } = this.options;
    for (let failures = 0; !this.stopping.signal.aborted; ) {
      const startedAt = clock.now();
      try {
        this.lastSign = startedAt;
        await this.listAndWatch();
        if (clock.now() - startedAt >= SHORTEST_WATCH) {
          failures = 0;
          continue;
        }
        failures += 1;
      } catch (error) {
        if (this.stopping.signal.aborted) return;
        if (clock.now() - startedAt >= RETRY_LAST) failures = 0;
        failures += 1;
        if (isGone(error)) {
          this.resourceVersion = undefined;
          log.debug({ kind: type.kind }, 'the watch is too old; listing again');
        } else {
          this.options.onFailure?.(type, error);
          log.warn({ kind: type.kind, error: String(error) }, 'watch failed; trying again');
        }
        const asked = error instanceof ApiError ? (error.retryAfter ?? 0) : 0;
        await this.pause(Math.max(asked, backoffDelay(failures, RETRY_FIRST, RETRY_LAST)));
        continue;
      }
      await this.pause(backoffDelay(failures, RETRY_FIRST, RETRY_LAST));
    }
  }

  private async pause(delay: number): Promise<void> {
    await this.options.clock.sleep(delay, this.stopping.signal).catch(() => undefined); // only stop() rejects it
  }

  private async listAndWatch(): Promise<void> {
    if (this.resourceVersion === undefined && this.streamsLists) {
      try {
        return await this.watch({ sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' });
      } catch (error) {
        if (!(error instanceof ApiError) || (error.status !== 400 && error.status !== 422)) throw error;
        this.streamsLists = false; // an older server, or one with the feature switched off
      }
    }
    if (this.resourceVersion === undefined) await this.list();
    await this.watch({ resourceVersion: this.resourceVersion });
  }

  private async list(): Promise<void> {
    const items: T[] = [];
    let page: { metadata: { resourceVersion: string; continue?: string }; items: T[] } | undefined;
    do {
      page = await this.options.cluster.request({
        method: 'GET',
        path: pathOf(this.options.type, this.options.namespace),
        query: {
          limit: PAGE,
          continue: page?.metadata.continue,
          labelSelector: this.options.labelSelector,
        },
        accept: this.accept('PartialObjectMetadataList'),
        signal: this.stopping.signal,
      });
      for (const item of page!.items) items.push(this.prune(item));
    } while (page!.metadata.continue);
    this.takeList(items, page!.metadata.resourceVersion);
  }

  private takeList(items: T[], version: string): void {
    this.resourceVersion = version;
    this.lastSign = this.options.clock.now();
    const changes = this.store.replace(items, version);
    this.isSynced = true;
    for (const change of changes) this.options.onChange(change);
    this.announceSync();
  }

  private async watch(query: Record<string, string | boolean | undefined>): Promise<void> {
    const timeoutSeconds = Math.round(WATCH_SECONDS * (1 + Math.random()));
    const stream = await this.options.cluster.stream({
      method: 'GET',
      path: pathOf(this.options.type, this.options.namespace),
      query: {
        watch: true,
        allowWatchBookmarks: true,
        timeoutSeconds,
        labelSelector: this.options.labelSelector,
        ...query,
      },
      accept: this.accept('PartialObjectMetadata'),
      signal: this.stopping.signal,
    });
    let initial: T[] | undefined = query['sendInitialEvents'] ? [] : undefined;
    for await (const event of this.events(stream)) {
      if (event.type === 'ERROR') throw statusError(event.object);
      const version = event.object.metadata.resourceVersion!;
      if (event.type === 'BOOKMARK') {
        if (initial) {
          this.takeList(initial, version);
          initial = undefined;
        }
        this.resourceVersion = version;
      } else if (initial) {
        initial.push(this.prune(event.object));
      } else {
        this.resourceVersion = version;
        this.take(event.type, this.prune(event.object));
      }
    }
    if (initial) throw new ClusterUnreachable('the server ended the first list before its end');
  }

  private take(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: T): void {
    const change = type === 'DELETED' ? this.store.remove(object) : this.store.put(object);
    if (change) this.options.onChange(change);
  }

  private async *events(stream: Readable): AsyncGenerator<WatchEvent<T>> {
    const { clock } = this.options;
    const silent = () => stream.destroy(new ClusterUnreachable(`the watch was silent for ${SILENCE} ms`));
    let cancel = clock.after(SILENCE, silent);
    let rest = '';
    const decoder = new TextDecoder();
    try {
      for await (const chunk of stream) {
        cancel();
        cancel = clock.after(SILENCE, silent);
        this.lastSign = clock.now();
        const lines = (rest + decoder.decode(chunk as Buffer, { stream: true })).split('\n');
        rest = lines.pop()!;
        for (const line of lines) if (line) yield parseEvent<T>(line);
      }
    } catch (error) {
      if (error instanceof ApiError || error instanceof ClusterUnreachable || this.stopping.signal.aborted) throw error;
      throw new ClusterUnreachable(`the watch broke off: ${String(error)}`, { cause: error });
    } finally {
      cancel();
      stream.destroy();
    }
  }

  private accept(kind: string): string {
    return this.options.metadataOnly ? `application/json;as=${kind};v=v1;g=meta.k8s.io` : 'application/json';
  }

  /** Drops what nobody here reads: it is half of the memory of a small object. */
  private prune(object: T): T {
    const metadata: Record<string, unknown> = { ...object.metadata };
    delete metadata['managedFields'];
    if (this.options.metadataOnly) {
      delete metadata['annotations']; // kubectl keeps a copy of the whole Secret in one
    } else if (object.metadata.annotations?.[LAST_APPLIED] !== undefined) {
      const { [LAST_APPLIED]: _, ...annotations } = object.metadata.annotations;
      metadata['annotations'] = annotations;
    }
    const { kind } = this.options.type;
    return { ...object, apiVersion: apiVersionOf(this.options.type), kind, metadata };
  }
}

function parseEvent<T>(line: string): WatchEvent<T> {
  try {
    return JSON.parse(line) as WatchEvent<T>;
  } catch (error) {
    throw new ClusterUnreachable('the watch sent a broken line', { cause: error });
  }
}

function statusError(object: unknown): ApiError {
  const status = object as { code?: number; reason?: string; message?: string };
  return new ApiError(status.code ?? 500, status.reason ?? 'Unknown', status.message ?? 'the watch failed');
}
