import type { Clock } from '../../base/clock';
import { errorOf, Stopping } from '../../base/errors';

/** How an operation ended; `at`: when, by the monotonic clock. */
export type OperationEnd<T> = { readonly at: number } & (
  { readonly type: 'completed'; readonly result: T } | { readonly type: 'failed'; readonly error: Error }
);

/**
 * Work that outlives the reconcile that starts it, such as a write, a removal, a flow or a download. The reconcile keeps the
 * operation in memory and returns; the end of the operation enqueues the resource, whose next reconcile takes the result.
 */
export class Operation<T = void> {
  /** The start of the operation, by the monotonic clock. */
  readonly startedAt: number;
  /** Undefined: it runs. */
  end: OperationEnd<T> | undefined;
  private readonly stopping = new AbortController();
  /** Aborted once the operation is given up. */
  readonly signal = this.stopping.signal;

  constructor(protected readonly clock: Clock) {
    this.startedAt = clock.monotonic();
  }

  /** Begins once the caller has returned to the event loop, and so has kept the operation. `onEnd` is called with the end set. */
  start(run: (operation: this) => Promise<T>, onEnd: () => void): this {
    void Promise.resolve()
      .then(() => run(this))
      .then(
        (result) => ({ type: 'completed', result }) as const,
        (error: unknown) => ({ type: 'failed', error: errorOf(error) }) as const,
      )
      .then((end) => {
        this.end = { ...end, at: this.clock.monotonic() };
        onEnd();
      });
    return this;
  }

  /** The error that it failed with. */
  get error(): Error | undefined {
    return this.end?.type === 'failed' ? this.end.error : undefined;
  }

  /** Gives up before the next request. */
  stop(reason = new Stopping('the operation was given up')): void {
    this.stopping.abort(reason);
  }
}
