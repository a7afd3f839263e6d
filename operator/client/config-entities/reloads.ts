import { randomUUID } from 'node:crypto';
import { Stopping } from '../../base/errors';
import { Timer } from '../../base/timer';
import { type Attempts, type ReloadResult, reloadWithRetry } from './reload-retry';

interface ReloadsOptions extends Attempts {
  /** Whether writes are in flight or queued for which the reload has to wait. */
  isWriting(component: string): boolean;
}

/** Milliseconds without a request after which a reload begins. */
export const QUIET_PERIOD = 300;
/** Milliseconds for which a reload request waits at most. Doubles with each reload while writes continue. */
export const MAX_WAIT = 10_000;
/**
 * Largest value of the doubled wait: hundreds of writes take the hub minutes, and each reload between them
 * slows them down.
 */
const MAX_WAIT_WHILE_WRITING = 60_000;

interface Batch {
  readonly result: Promise<ReloadResult>;
  readonly resolve: (result: ReloadResult) => void;
  /** Latest start of the reload, by the monotonic clock. */
  readonly latestStart: number;
}

interface ComponentQueue {
  /** The batch for the next reload. */
  waiting: Batch | undefined;
  running: Batch | undefined;
  /** Milliseconds for which the next batch waits at most. */
  maxWait: number;
  readonly timer: Timer;
}

/**
 * The reloads of one hub (rules.md, "Reload"). They are coalesced: one reload serves all requests that were
 * made before it began. A burst of writes causes few reloads, and each request resolves with the result of a
 * reload that began after the request.
 */
export class Reloads {
  private readonly options: ReloadsOptions;
  private readonly queues = new Map<string, ComponentQueue>();
  private readonly closing = new AbortController();
  private expectsWrites: (component: string) => boolean = () => false;

  constructor(options: ReloadsOptions) {
    this.options = options;
  }

  /**
   * Delays reloads while `expectsWrites` is true, up to the usual limit. A burst of writes has pauses, and
   * one reload after all of its writes is enough.
   */
  deferWhile(expectsWrites: (component: string) => boolean): void {
    this.expectsWrites = expectsWrites;
  }

  /**
   * Requests a reload; to be called after the write has ended. Never rejects.
   *
   * @param quiet milliseconds to wait for further requests; 0 if all writes of a burst have ended
   */
  request(component: string, quiet = QUIET_PERIOD): Promise<ReloadResult> {
    if (this.closing.signal.aborted) return Promise.resolve(closed());
    const queue = this.queue(component);
    queue.waiting ??= newBatch(this.options.clock.monotonic() + queue.maxWait);
    const { result } = queue.waiting;
    this.arm(component, queue, quiet);
    return result;
  }

  /** Resolves when no reload is running or requested. */
  async waitUntilIdle(): Promise<void> {
    for (;;) {
      const batches = [...this.queues.values()].flatMap(({ running, waiting }) => [running, waiting]);
      const open = batches.filter((batch) => batch !== undefined);
      if (open.length === 0) return;
      await Promise.all(open.map(({ result }) => result));
    }
  }

  /** Starts no further reload. Waiting requests resolve as failed. */
  close(): void {
    this.closing.abort(new Stopping('the client of the hub was closed'));
    for (const queue of this.queues.values()) {
      queue.timer.clear();
      queue.waiting?.resolve(closed());
      queue.waiting = undefined;
    }
  }

  private queue(component: string): ComponentQueue {
    let queue = this.queues.get(component);
    if (!queue) {
      queue = {
        waiting: undefined,
        running: undefined,
        maxWait: MAX_WAIT,
        timer: new Timer(this.options.clock),
      };
      this.queues.set(component, queue);
    }
    return queue;
  }

  private arm(component: string, queue: ComponentQueue, quiet = QUIET_PERIOD): void {
    if (!queue.waiting || queue.running) return;
    const { clock } = this.options;
    const left = queue.waiting.latestStart - clock.monotonic();
    queue.timer.set(Math.max(0, Math.min(quiet, left)), () => {
      const mayWait = queue.waiting !== undefined && clock.monotonic() < queue.waiting.latestStart;
      const isWriting = this.options.isWriting(component);
      if (mayWait && (isWriting || this.expectsWrites(component))) return this.arm(component, queue);
      queue.maxWait = isWriting ? Math.min(2 * queue.maxWait, MAX_WAIT_WHILE_WRITING) : MAX_WAIT;
      void this.run(component, queue);
    });
  }

  private async run(component: string, queue: ComponentQueue): Promise<void> {
    const batch = queue.waiting;
    if (!batch) return;
    queue.waiting = undefined;
    queue.running = batch;
    batch.resolve(await reloadWithRetry(component, this.options, this.closing.signal));
    queue.running = undefined;
    this.arm(component, queue);
  }
}

function newBatch(latestStart: number): Batch {
  let resolve: Batch['resolve'] = () => undefined;
  const result = new Promise<ReloadResult>((settle) => (resolve = settle));
  return { result, resolve, latestStart };
}

function closed(): ReloadResult {
  return {
    ok: false,
    reason: 'ReloadFailed',
    message: 'the client of the hub was closed',
    reloadId: randomUUID(),
  };
}
