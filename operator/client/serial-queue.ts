export interface SerialQueueOptions {
  /** Whether after this failure the tasks that wait would only fail alike, one after another: they end with it too. */
  readonly failFast?: (error: unknown) => boolean;
}

interface QueuedTask {
  readonly start: () => Promise<void>;
  readonly fail: (error: unknown) => void;
}

/** Runs tasks one after another, in the order in which they came; a failed one does not hold up the next. */
export class SerialQueue {
  private readonly failFast: (error: unknown) => boolean;
  private waiting: QueuedTask[] = [];
  private running: Promise<void> | undefined;
  private closed = false;

  constructor({ failFast = () => false }: SerialQueueOptions = {}) {
    this.failFast = failFast;
  }

  /** Whether a task runs or waits. */
  get busy(): boolean {
    return this.running !== undefined || this.waiting.length > 0;
  }

  run<T>(task: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.closed) return;
      const start = async () => {
        try {
          resolve(await task());
        } catch (error) {
          reject(error);
          if (this.failFast(error)) for (const { fail } of this.waiting.splice(0)) fail(error);
        }
      };
      this.waiting.push({ start, fail: reject });
      this.running ??= this.work();
    });
  }

  /**
   * Begins no task any more, and resolves when the one that runs has ended. Tasks that wait, or come later, are never
   * answered: nothing became of them, and whoever stops has nobody left to tell.
   */
  async close(): Promise<void> {
    this.closed = true;
    this.waiting = [];
    await this.running;
  }

  private async work(): Promise<void> {
    for (let next = this.waiting.shift(); next; next = this.waiting.shift()) await next.start();
    this.running = undefined;
  }
}
