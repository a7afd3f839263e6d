export interface LaneOptions {
  /** Whether after this failure the tasks that wait would only fail alike, one after another: they end with it too. */
  readonly endsAll?: (error: unknown) => boolean;
}

interface Waiting {
  readonly start: () => Promise<void>;
  readonly fail: (error: unknown) => void;
}

/** Runs tasks one after another, in the order in which they came; a failed one does not hold up the next. */
export class Lane {
  readonly #endsAll: (error: unknown) => boolean;
  #waiting: Waiting[] = [];
  #running = false;

  constructor({ endsAll = () => false }: LaneOptions = {}) {
    this.#endsAll = endsAll;
  }

  /** Whether a task runs or waits. */
  get busy(): boolean {
    return this.#running || this.#waiting.length > 0;
  }

  run<T>(task: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const start = async () => {
        try {
          resolve(await task());
        } catch (error) {
          reject(error);
          if (this.#endsAll(error)) for (const { fail } of this.#waiting.splice(0)) fail(error);
        }
      };
      this.#waiting.push({ start, fail: reject });
      if (!this.#running) void this.#work();
    });
  }

  async #work(): Promise<void> {
    this.#running = true;
    for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) await next.start();
    this.#running = false;
  }
}
