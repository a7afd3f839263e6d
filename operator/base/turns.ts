import type { Clock } from './clock';

/** Milliseconds of work after which everything else has as much time. */
const TURN = 20;

/** Work that keeps the process busy, in the order in which it came: never more than half of the time, while other work waits. */
export class Turns {
  private readonly waiting: (() => void)[] = [];
  private isRunning = false;

  constructor(private readonly clock: Pick<Clock, 'monotonic' | 'sleep'>) {}

  /** @param work throws nothing */
  add(work: () => void): void {
    this.waiting.push(work);
    if (!this.isRunning) void this.run();
  }

  private async run(): Promise<void> {
    this.isRunning = true;
    let busy = 0;
    for (let work = this.waiting.shift(); work; work = this.waiting.shift()) {
      const began = this.clock.monotonic();
      work();
      await new Promise(setImmediate); // what waits for its result runs
      busy += this.clock.monotonic() - began;
      if (busy < TURN) continue;
      await this.clock.sleep(busy);
      busy = 0;
    }
    this.isRunning = false;
  }
}
