import type { Clock } from '../../base/clock';

interface SerialQueueOptions {
  readonly clock: Clock;
  /**
   * Whether this error of the running task makes all queued tasks fail too, because they would fail in the
   * same way.
   */
  readonly failFast?: (error: unknown) => boolean;
}

interface QueuedTask {
  readonly start: () => Promise<void>;
  readonly fail: (error: unknown) => void;
}

/** Milliseconds. Tasks that are added after a longer pause without new tasks form a new batch. */
const BATCH_GAP = 2_000;
/**
 * Every nth task is taken from the oldest batch, so that newer batches cannot block the oldest one forever.
 */
const OLDEST_BATCH_SHARE = 4;

/**
 * Runs tasks one after another; a failed task does not stop the next. Within a batch, tasks keep their order.
 * The newest batch has precedence, so that a later change by a user does not wait for a burst of hundreds of
 * writes.
 */
export class SerialQueue {
  private readonly clock: Clock;
  private readonly failFast: (error: unknown) => boolean;
  /** Batches of queued tasks, the oldest first. No batch is empty. */
  private batches: QueuedTask[][] = [];
  /** Tasks of {@link runNext}, which run before all batches. */
  private next: QueuedTask[] = [];
  private lastAddedAt = -Infinity;
  private started = 0;
  private running: Promise<void> | undefined;
  private closed = false;

  constructor({ clock, failFast = () => false }: SerialQueueOptions) {
    this.clock = clock;
    this.failFast = failFast;
  }

  /** Whether a task is running or queued. */
  get busy(): boolean {
    return this.running !== undefined || this.next.length + this.batches.length > 0;
  }

  /** Queues the task. The returned promise settles like that of the task. */
  run<T>(task: () => Promise<T>): Promise<T> {
    return this.add(task, (queued) => {
      if (this.closed) return;
      const now = this.clock.monotonic();
      const batch = now - this.lastAddedAt <= BATCH_GAP ? this.batches.at(-1) : undefined;
      if (batch) batch.push(queued);
      else this.batches.push([queued]);
      this.lastAddedAt = now;
    });
  }

  /** Runs the task after the running one, before all queued tasks, even after {@link close}. */
  runNext<T>(task: () => Promise<T>): Promise<T> {
    return this.add(task, (queued) => this.next.push(queued));
  }

  /**
   * Starts no further task of {@link run}, and resolves when the running one has ended. Promises of queued
   * and later tasks never settle, so that their callers do nothing more while the process stops.
   */
  async close(): Promise<void> {
    this.closed = true;
    this.batches = [];
    await this.running;
  }

  private add<T>(task: () => Promise<T>, enqueue: (queued: QueuedTask) => void): Promise<T> {
    return new Promise((resolve, reject) => {
      const start = async () => {
        try {
          resolve(await task());
        } catch (error) {
          reject(error);
          if (this.failFast(error)) this.failAll(error);
        }
      };
      enqueue({ start, fail: reject });
      if (this.busy) this.running ??= this.work();
    });
  }

  private failAll(error: unknown): void {
    const queued = [...this.next, ...this.batches.flat()];
    this.next = [];
    this.batches = [];
    for (const { fail } of queued) fail(error);
  }

  private async work(): Promise<void> {
    for (let task = this.take(); task; task = this.take()) await task.start();
    this.running = undefined;
  }

  private take(): QueuedTask | undefined {
    const first = this.next.shift();
    if (first) return first;
    const batch = ++this.started % OLDEST_BATCH_SHARE === 0 ? this.batches[0] : this.batches.at(-1);
    const task = batch?.shift();
    if (batch?.length === 0) this.batches = this.batches.filter((each) => each !== batch);
    return task;
  }
}
