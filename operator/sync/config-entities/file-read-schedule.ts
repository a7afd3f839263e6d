import type { Clock } from '../../clock';

/** A read costs the hub up to 0.4 s. This share of its time may go into reads that nobody waits for: one in five. */
const PAUSE_PER_READ = 4;
/** Between two reads before any was timed (milliseconds). */
const FIRST_PAUSE = 50;

/**
 * Times of the reads of a hub's files that only verify what is probably unchanged. After a reload by somebody else every
 * scene may have changed, and each has to be read by a request of its own (rules.md, "Drift").
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

  /** Runs a read and measures it: the slower the hub, the longer the pauses. */
  async time<T>(read: () => Promise<T>): Promise<T> {
    const startedAt = this.clock.monotonic();
    const result = await read();
    this.pause = PAUSE_PER_READ * (this.clock.monotonic() - startedAt);
    return result;
  }
}
