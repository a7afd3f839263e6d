import type { Clock } from '../base/clock';
import { RECONCILE_TIMEOUT } from '../base/limits';
import type { ObjectKey } from './object-key';

/**
 * The resources whose sync module is running. A module may still run after its reconcile was abandoned: the
 * next reconcile of the same resource starts after its end.
 */
export class RunningReconciles {
  private readonly started = new Map<ObjectKey, number>();

  constructor(private readonly clock: Clock) {}

  has(key: ObjectKey): boolean {
    return this.started.has(key);
  }

  track<T>(key: ObjectKey, running: Promise<T>): Promise<T> {
    this.started.set(key, this.clock.monotonic());
    const ended = () => this.started.delete(key);
    running.then(ended, ended);
    return running;
  }

  /**
   * Milliseconds since the start of the oldest abandoned reconcile that is still running; 0 if there is none.
   */
  oldestAbandoned(): number {
    const [oldest] = this.started.values(); // a map keeps the order of insertion
    const age = oldest === undefined ? 0 : this.clock.monotonic() - oldest;
    return age > RECONCILE_TIMEOUT ? age : 0;
  }
}
