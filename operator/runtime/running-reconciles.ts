import type { Clock } from '../base/clock';
import { OperationalError } from '../base/errors';
import { RECONCILE_TIMEOUT } from '../base/limits';
import type { ObjectKey } from './object-key';

/** A reconcile of the resource was abandoned and is still running. */
export class StillRunning extends OperationalError {
  override readonly name = 'StillRunning';
}

/**
 * The resources whose sync module is running. A module may still run after its reconcile was abandoned: the
 * next reconcile of the same resource starts after its end.
 */
export class RunningReconciles {
  private readonly started = new Map<ObjectKey, number>();

  constructor(private readonly clock: Clock) {}

  /** @throws StillRunning the previous reconcile of the resource has not ended */
  assertEnded(key: ObjectKey): void {
    if (this.started.has(key))
      throw new StillRunning('the previous reconcile was abandoned and is still running');
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
