import type { Clock } from '../base/clock';
import type { ObjectKey } from './object-key';

/** The times since which resources are in one state, such as that of a removal. */
export class Since {
  private readonly times = new Map<ObjectKey, number>();

  constructor(private readonly clock: Clock) {}

  /** Milliseconds since the first call of this method after the last `end`. */
  age(key: ObjectKey): number {
    const now = this.clock.monotonic();
    const since = this.times.get(key) ?? now;
    this.times.set(key, since);
    return now - since;
  }

  end(key: ObjectKey): void {
    this.times.delete(key);
  }
}
