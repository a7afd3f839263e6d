import { type Clock, systemClock } from './clock';

/** Milliseconds of work after which everything else has as much time. */
const TURN = 20;
/** Bytes of a text that waits for its turn: to parse a larger one takes milliseconds, the largest some tenths of a second. */
const LARGE = 64 * 1024;

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

  /** Whether a text of so many bytes is to wait. Not if too much waits: it is parsed at once, so that no more comes together. */
  mayWait(size: number): boolean {
    return size > LARGE && (this.size === 0 || this.size + size <= this.most);
  }

  /** Resolves when it is the turn of a text of so many bytes. What follows at once is done within the turn. */
  async take(size: number): Promise<void> {
    if (this.mayWait(size)) await new Promise<void>((resolve) => this.add(resolve, size));
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

/** The turns of the texts of all hubs, and of those that pods send to the webhook, at most as many as the largest text has bytes. */
export const largeTexts = new Turns(systemClock, 12 * 1024 * 1024);
