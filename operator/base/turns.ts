import type { Clock } from './clock';

/** Milliseconds of work after which everything else has as much time. */
const TURN = 20;

/** Work that keeps the process busy, in the order in which it came: never more than half of the time, while other work waits. */
export class Turns {
  private readonly waiting: { readonly work: () => void; readonly size: number }[] = [];
  private size = 0;
  private isRunning = false;

  /** @param most bytes that may wait; a single one may have more */
  constructor(
    private readonly clock: Pick<Clock, 'monotonic' | 'sleep'>,
    private readonly most: number,
  ) {}

  /** Whether work that holds so many bytes may wait. Else it is to be done at once, so that no more of it comes together. */
  hasRoom(size: number): boolean {
    return this.size === 0 || this.size + size <= this.most;
  }

  /** @param work throws nothing */
  add(work: () => void, size: number): void {
    this.waiting.push({ work, size });
    this.size += size;
    if (!this.isRunning) void this.run();
  }

  private async run(): Promise<void> {
    this.isRunning = true;
    let busy = 0;
    for (let next = this.waiting.shift(); next; next = this.waiting.shift()) {
      const began = this.clock.monotonic();
      this.size -= next.size;
      next.work();
      await new Promise(setImmediate); // what waits for its result runs
      busy += this.clock.monotonic() - began;
      if (busy < TURN) continue;
      await this.clock.sleep(busy);
      busy = 0;
    }
    this.isRunning = false;
  }
}
