import { type Clock, systemClock } from './clock';

/** Milliseconds of work after which everything else has as much time. */
const TURN = 20;
/** Bytes of a text that waits for its turn: to parse a larger one takes milliseconds, the largest some tenths of a second. */
const LARGE = 64 * 1024;

/**
 * Work that keeps the process busy, in the order in which it came: never more than half of the time, while other work waits. What finds
 * no room to wait is done at once, and counts as well.
 */
export class Turns {
  private readonly waiting: { readonly work: () => void; readonly size: number }[] = [];
  private size = 0;
  /** Milliseconds of work since the last rest. */
  private busy = 0;
  private isRunning = false;
  private timed: Promise<void> | undefined;
  private untilRested: (() => void)[] = [];

  /** @param most bytes that may wait; a single one may have more */
  constructor(
    private readonly clock: Pick<Clock, 'monotonic' | 'sleep'>,
    private readonly most: number,
  ) {}

  isLarge(size: number): boolean {
    return size > LARGE;
  }

  /** Whether a text of so many bytes is to wait. Not if too much waits: it is parsed at once, so that no more comes together. */
  mayWait(size: number): boolean {
    return this.isLarge(size) && (this.size === 0 || this.size + size <= this.most);
  }

  /** Resolves when it is the turn of a text of so many bytes. What follows at once is done within the turn. */
  async take(size: number): Promise<void> {
    if (this.mayWait(size)) await new Promise<void>((resolve) => this.add(resolve, size));
    else if (this.isLarge(size)) void this.countNext();
  }

  /** @param work throws nothing */
  add(work: () => void, size: number): void {
    this.waiting.push({ work, size });
    this.size += size;
    if (!this.isRunning) void this.run();
  }

  /** Counts the work that the caller does at once, with all that waits for its result. */
  async countNext(): Promise<void> {
    await this.time(() => undefined);
    if (!this.isRunning) void this.run();
  }

  /** Resolves after the next rest; at once if nothing is to be rested from. A sender of large texts is read no further until then. */
  async rested(): Promise<void> {
    if (this.isRunning) await new Promise<void>((resolve) => this.untilRested.push(resolve));
  }

  private async run(): Promise<void> {
    this.isRunning = true;
    for (;;) {
      const next = this.waiting.shift();
      if (next) {
        this.size -= next.size;
        await this.time(next.work);
      }
      if (this.busy >= TURN) await this.rest();
      else if (!next) break;
    }
    this.isRunning = false;
    this.endRest();
  }

  private time(work: () => void): Promise<void> {
    this.timed ??= this.timeUntilNextEvent();
    work();
    return this.timed;
  }

  /** Until the process looks at its connections again: what waits for a result has run by then. Work at the same time counts once. */
  private async timeUntilNextEvent(): Promise<void> {
    const began = this.clock.monotonic();
    await new Promise(setImmediate);
    this.timed = undefined;
    this.busy += this.clock.monotonic() - began;
  }

  private async rest(): Promise<void> {
    const { busy } = this;
    this.busy = 0;
    await this.clock.sleep(busy);
    this.endRest();
  }

  private endRest(): void {
    for (const resolve of this.untilRested.splice(0)) resolve();
  }
}

/** The turns of the texts of all hubs, and of those that pods send to the webhook, at most as many as the largest text has bytes. */
export const largeTexts = new Turns(systemClock, 12 * 1024 * 1024);
