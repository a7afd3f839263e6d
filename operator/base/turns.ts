import { type Clock, systemClock } from './clock';

/** Milliseconds of work after which the queue pauses for as long as it has worked. */
const TURN = 20;
/**
 * Bytes. A larger text waits for its turn: parsing takes milliseconds, some tenths of a second for the
 * largest.
 */
const LARGE = 64 * 1024;

/**
 * A fair queue for parsing large texts. After {@link TURN} of work it pauses for as long as it worked, so
 * that other work gets at least half of the event loop. When the queue is full, a text is parsed immediately
 * and its time counts toward the next pause.
 */
export class Turns {
  private readonly waiting: { readonly work: () => void; readonly size: number }[] = [];
  private size = 0;
  /** Milliseconds of work since the last pause. */
  private busy = 0;
  private isRunning = false;
  private timed: Promise<void> | undefined;
  private untilRested: (() => void)[] = [];

  /** @param most bytes of all texts that may wait; a single larger text may wait too */
  constructor(
    private readonly clock: Pick<Clock, 'monotonic' | 'sleep'>,
    private readonly most: number,
  ) {}

  isLarge(size: number): boolean {
    return size > LARGE;
  }

  /**
   * Whether a text of this many bytes is queued. When the queue is full, the text is parsed immediately, so
   * that texts do not accumulate.
   */
  mayWait(size: number): boolean {
    return this.isLarge(size) && (this.size === 0 || this.size + size <= this.most);
  }

  /**
   * Resolves when it is the turn of a text of this many bytes. Synchronous work directly afterwards counts as
   * part of the turn.
   */
  async take(size: number): Promise<void> {
    if (this.mayWait(size)) await new Promise<void>((resolve) => this.add(resolve, size));
    else if (this.isLarge(size)) void this.countNext();
  }

  /** @param work must not throw */
  add(work: () => void, size: number): void {
    this.waiting.push({ work, size });
    this.size += size;
    if (!this.isRunning) void this.run();
  }

  /**
   * Counts the time of the synchronous work that the caller does next, and of the callbacks that run because
   * of it.
   */
  async countNext(): Promise<void> {
    await this.time(() => undefined);
    if (!this.isRunning) void this.run();
  }

  /**
   * Resolves after the next pause, or at once if no work is queued. The reader of a connection waits for it
   * before it reads more from a sender of large texts.
   */
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

  /**
   * Measures until the event loop polls its connections again: by then the callbacks that waited for the
   * result have run. Concurrent work is counted once.
   */
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

/**
 * The queue for the texts of all hubs, and for those that pods send to the webhook. At most as many bytes
 * wait as the largest text has.
 */
export const largeTexts = new Turns(systemClock, 12 * 1024 * 1024);
