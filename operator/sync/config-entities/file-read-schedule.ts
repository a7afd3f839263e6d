import type { Clock } from '../../base/clock';

/**
 * Pause after each read, as a multiple of its duration. A read takes the hub up to 0.4 s, so background reads
 * use at most one fifth of its time.
 */
const PAUSE_PER_READ = 4;
/** Milliseconds between two reads until one has been measured. */
const FIRST_PAUSE = 50;

/**
 * Schedules reads of a hub's files that verify objects which are probably unchanged. After a reload by
 * another client every scene may have changed, and each has to be read in a separate request (rules.md,
 * "Drift").
 */
export class FileReadSchedule {
  private nextAt = 0;
  private pause = FIRST_PAUSE;

  constructor(private readonly clock: Clock) {}

  /** Reserves the next free time, by the monotonic clock. */
  reserve(): number {
    const at = Math.max(this.clock.monotonic(), this.nextAt);
    this.nextAt = at + this.pause;
    return at;
  }

  /** Runs a read and measures it. The slower the hub, the longer the pauses. */
  async time<T>(read: () => Promise<T>): Promise<T> {
    const startedAt = this.clock.monotonic();
    const result = await read();
    this.pause = PAUSE_PER_READ * (this.clock.monotonic() - startedAt);
    return result;
  }
}
