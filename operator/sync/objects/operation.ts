import type { Clock } from '../../base/clock';
import { errorOf, Stopping } from '../../base/errors';

/** The end of an operation. `at` is its monotonic time. */
export type OperationEnd<T> = { readonly at: number } & (
  { readonly type: 'completed'; readonly result: T } | { readonly type: 'failed'; readonly error: Error }
);

/**
 * Work that outlives the reconcile that starts it, such as a write, a removal, a flow or a download. The
 * reconcile keeps the operation in memory and returns. The end of the operation requeues the resource, whose
 * next reconcile takes the result.
 */
export class Operation<T = void> {
  /** The start of the operation, by the monotonic clock. */
  readonly startedAt: number;
  /** Undefined while the operation runs. */
  end: OperationEnd<T> | undefined;
  private readonly stopping = new AbortController();
  /** Aborted when the operation is cancelled. */
  readonly signal = this.stopping.signal;

  constructor(protected readonly clock: Clock) {
    this.startedAt = clock.monotonic();
  }

  /**
   * Starts the operation after the caller has returned to the event loop and so has stored it. `onEnd` is
   * called when the end is set.
   */
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

  /** The error with which the operation failed, if it did. */
  get error(): Error | undefined {
    return this.end?.type === 'failed' ? this.end.error : undefined;
  }

  /** Cancels the operation before its next request. */
  stop(reason = new Stopping('the operation was given up')): void {
    this.stopping.abort(reason);
  }
}
