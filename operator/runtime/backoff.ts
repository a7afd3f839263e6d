/** Delays after repeated failures, by key. Each failure doubles the delay until {@link Backoff.forget}. */
export class Backoff<Key> {
  private readonly failures = new Map<Key, number>();

  /** @param first shortest delay in milliseconds @param last longest delay in milliseconds */
  constructor(
    private readonly first: number,
    private readonly last: number,
  ) {}

  /** Records a failure of the key. @returns milliseconds until the next try, at most `atMost` */
  next(key: Key, atMost = this.last): number {
    const failures = this.failures.get(key) ?? 0;
    this.failures.set(key, failures + 1);
    return backoffDelay(failures, this.first, Math.min(this.last, atMost));
  }

  /** To be called when the key succeeded or is gone: the next failure has the first delay again. */
  forget(key: Key): void {
    this.failures.delete(key);
  }
}

/** Exponential backoff with jitter: the delay of attempt n lies between half of and all of `first * 2^n`, at most `last`. */
export function backoffDelay(
  attempt: number,
  first: number,
  last: number,
  random: () => number = Math.random,
): number {
  const full = Math.min(last, first * 2 ** Math.min(attempt, 52));
  return full / 2 + (full / 2) * random();
}
