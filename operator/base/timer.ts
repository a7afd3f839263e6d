import type { Clock } from './clock';

/** At most one pending callback. */
export class Timer {
  private cancel: (() => void) | undefined;

  constructor(private readonly clock: Clock) {}

  /** Whether a callback is pending. */
  get pending(): boolean {
    return this.cancel !== undefined;
  }

  /** Calls `callback` once after `delay` milliseconds; replaces a pending callback. */
  set(delay: number, callback: () => void): void {
    this.clear();
    this.cancel = this.clock.after(delay, () => {
      this.cancel = undefined;
      callback();
    });
  }

  clear(): void {
    this.cancel?.();
    this.cancel = undefined;
  }
}
