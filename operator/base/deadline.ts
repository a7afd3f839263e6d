import { setMaxListeners } from 'node:events';
import { OperationalError } from './errors';
import type { Clock } from './clock';

/** The work exceeded its deadline. Its signal is aborted, but the work may still be running. */
export class DeadlineExceeded extends OperationalError {
  override readonly name: string = 'DeadlineExceeded';
}

interface Deadline {
  readonly clock: Clock;
  /** Milliseconds; zero or less lets the deadline pass as soon as timers fire. */
  readonly delay: number;
  /** Aborts the work before the deadline. The returned promise then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Error at the deadline. Default: a {@link DeadlineExceeded} that names the delay. */
  readonly error?: () => Error;
}

/**
 * Settles as `work` does, unless the deadline passes or the signal aborts first: then it rejects at once and aborts the
 * signal that was passed to `work`. The result of work that continues nevertheless is ignored.
 *
 * @throws DeadlineExceeded, the error of {@link Deadline.error}, or the reason of `signal`
 */
export async function withDeadline<T>(
  { clock, delay, signal, error }: Deadline,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  const combined = new CombinedSignal(signal);
  const exceeded = error ?? (() => new DeadlineExceeded(`deadline of ${delay / 1_000} s exceeded`));
  const cancel = clock.after(delay, () => combined.abort(exceeded()));
  try {
    return await Promise.race([work(combined.signal), rejectionOf(combined.signal)]);
  } finally {
    cancel();
    combined.dispose();
  }
}

/** Rejects with the reason of the signal when that aborts. */
export function rejectionOf(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) return reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

/**
 * An abort signal that follows others until it is disposed of. `AbortSignal.any` is not used: in Node 20 a long-lived
 * source keeps a reference to every signal made from it.
 */
export class CombinedSignal {
  private readonly controller = new AbortController();
  private readonly sources: readonly AbortSignal[];

  constructor(...sources: readonly (AbortSignal | undefined)[]) {
    this.sources = sources.filter((source) => source !== undefined);
    for (const source of this.sources) {
      setMaxListeners(0, source); // all concurrent work follows the leader's signal: a warning about a leak would be wrong
      if (source.aborted) this.abort(source.reason);
      else source.addEventListener('abort', this.follow);
    }
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Aborts this signal alone, not its sources. */
  abort(reason: unknown): void {
    this.controller.abort(reason);
  }

  /** Stops following the sources; the signal keeps its state. */
  dispose(): void {
    for (const source of this.sources) source.removeEventListener('abort', this.follow);
  }

  private readonly follow = ({ target }: Event): void => this.abort((target as AbortSignal).reason);
}
