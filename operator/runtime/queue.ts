import type { Clock } from '../base/clock';
import { Timer } from '../base/timer';
import { DelayQueue } from './delay-queue';
import { type Priority, strongest } from './priority';

export interface QueueOptions<Key extends string = string> {
  readonly clock: Clock;
  /** Largest number of keys that are processed at the same time, not counting slow ones. */
  readonly workers: number;
  /** Largest number of keys of one partition (one hub) that are processed at the same time. */
  readonly perPartition: number;
  /**
   * Milliseconds after which work is slow: it no longer occupies a worker, but still a slot of its partition.
   */
  readonly slowAfter: number;
  /**
   * After work that took this many milliseconds, its partition has only one slot until other work of it is
   * faster.
   */
  readonly hangingAfter: number;
  readonly partitionOf: (key: Key) => string;
  /** Processes one key. It must handle its own errors: a rejection is not allowed. */
  readonly work: (key: Key) => Promise<void>;
  readonly observer?: QueueObserver<Key>;
}

export interface QueueObserver<Key extends string = string> {
  added(key: Key): void;
  /** `waited` is the number of milliseconds from the time when the key was due to the start of its work. */
  started(key: Key, waited: number): void;
  /** `worked` is the duration in milliseconds. */
  finished(key: Key, worked: number): void;
}

interface Partition<Key> {
  readonly name: string;
  /** Keys that wait for a worker, in the order in which they were added. */
  readonly change: Set<Key>;
  readonly resync: Set<Key>;
  /** Number of keys that are being processed. */
  active: number;
  /** Whether the last work took too long: see {@link QueueOptions.hangingAfter}. */
  hanging: boolean;
  /** Time at which the last work of the partition ended, by the monotonic clock. */
  lastWorkedAt: number;
}

/**
 * Milliseconds, longer than the resync interval. A partition without work for this long belongs to a hub that
 * is gone.
 */
const HANGING_RETENTION = 30 * 60_000;

interface Work<Key> {
  readonly partition: Partition<Key>;
  readonly startedAt: number;
  slow: boolean;
}

interface Waiting<Key> {
  readonly partition: Partition<Key>;
  readonly priority: Priority;
  /** Time at which the key was due, by the monotonic clock. */
  readonly since: number;
}

/**
 * The work queue of the controller, modelled on client-go: it contains a key once, and a key is processed at
 * most once at a time (rules.md, "Queue").
 *
 * - A key that is added while it is being processed is processed again afterwards.
 * - Of several delayed adds the earliest counts, of several priorities the highest.
 * - Changes precede resyncs, across all partitions. Partitions with equal work take turns.
 * - Within a partition and a priority, keys are processed in the order in which they were added.
 * - Slow work occupies no worker of other partitions, and a hanging partition is reduced to one slot.
 */
export class WorkQueue<Key extends string = string> {
  // Invariants, held between any two calls:
  // - `waiting` is disjoint from `delayed` and from `working`; `dirty` is a subset of `working`.
  // - A key of `waiting` is in exactly one set of exactly one partition, the one that its entry names.
  // - `runnable` holds the partitions with waiting keys and a free slot, `partitions` those with waiting keys or
  //   work and those that hang.
  private readonly partitions = new Map<string, Partition<Key>>();
  /** Partitions in the order in which they get a worker. */
  private readonly runnable = new Set<Partition<Key>>();
  /** Keys that are due and wait for a worker. */
  private readonly waiting = new Map<Key, Waiting<Key>>();
  /** Keys that are being processed, the oldest first. */
  private readonly working = new Map<Key, Work<Key>>();
  /** Number of keys whose work is not slow and so occupies a worker. */
  private busy = 0;
  private readonly slowTimer: Timer;
  /** Keys that are being processed and have to be processed again. */
  private readonly dirty = new Map<Key, Priority>();
  /** Keys that are not due yet. */
  private readonly delayed: DelayQueue<Key>;
  private state: 'paused' | 'running' | 'stopped' = 'paused';
  private readonly onIdle: (() => void)[] = [];

  constructor(private readonly options: QueueOptions<Key>) {
    this.slowTimer = new Timer(options.clock);
    this.delayed = new DelayQueue(options.clock, (keys) => {
      // All keys are admitted before one is chosen, so that a change that is due now precedes a resync that
      // is due now.
      for (const { key, priority } of keys) this.admit(key, priority);
      this.dispatch();
    });
  }

  /** The keys that are due and wait for a worker. */
  queued(): Iterable<Key> {
    return this.waiting.keys();
  }

  /**
   * Whether changes wait for a worker. Changes of a hanging partition are not counted, since they wait for
   * their own hub; neither are resyncs.
   */
  get isBusy(): boolean {
    for (const { change, hanging } of this.partitions.values()) if (change.size > 0 && !hanging) return true;
    return false;
  }

  get active(): number {
    return this.working.size;
  }

  /** Number of partitions that have keys or work, or are known to hang. */
  get partitionCount(): number {
    return this.partitions.size;
  }

  get running(): boolean {
    return this.state === 'running';
  }

  /** The keys that are being processed, with the age of their work in milliseconds. */
  *inProgress(): Generator<readonly [key: Key, age: number]> {
    const now = this.options.clock.monotonic();
    for (const [key, { startedAt }] of this.working) yield [key, now - startedAt];
  }

  /** Milliseconds since the oldest work in progress began; 0 if there is none. */
  longestRunning(): number {
    let longest = 0;
    for (const [, age] of this.inProgress()) longest = Math.max(longest, age);
    return longest;
  }

  /**
   * Milliseconds for which the oldest key has been due although a worker and a slot of its partition are
   * free. More than a moment means a bug of the queue.
   */
  longestUnscheduled(): number {
    const { clock, workers } = this.options;
    if (!this.running || this.busy >= workers) return 0;
    let oldest = this.delayed.nextDue;
    for (const { partition, since } of this.waiting.values())
      if (this.hasFreeSlot(partition)) oldest = Math.min(oldest, since);
    return Math.max(0, clock.monotonic() - oldest);
  }

  /**
   * Starts the workers. Before the start, keys are only collected. A stopped queue cannot be started again.
   */
  start(): void {
    if (this.state !== 'paused') return;
    this.state = 'running';
    this.dispatch();
  }

  /** Starts no further work; resolves when the work in progress has ended. */
  async stop(): Promise<void> {
    this.state = 'stopped';
    this.delayed.stop();
    this.slowTimer.clear();
    if (this.working.size > 0) await new Promise<void>((resolve) => this.onIdle.push(resolve));
  }

  /**
   * Adds a key that is due now. A delayed key becomes due now. A waiting key keeps its position, unless its
   * priority or its partition changes. A key that is being processed is processed again afterwards. A stopped
   * queue ignores the key.
   */
  add(key: Key, priority: Priority = 'change'): void {
    if (this.state === 'stopped') return;
    this.admit(key, priority);
    this.dispatch();
  }

  /**
   * Adds a key that is due in `delay` milliseconds; zero or less is equal to {@link add}. A waiting key is
   * due already and is unchanged. A key that is being processed is also delayed: if it becomes due before its
   * work ends, it is processed again afterwards. A stopped queue ignores the key.
   */
  addAfter(key: Key, delay: number, priority: Priority = 'change'): void {
    if (this.state === 'stopped') return;
    if (delay <= 0) return this.add(key, priority);
    if (!this.waiting.has(key)) this.delayed.add(key, delay, priority);
  }

  /** Throws an error that names the first invariant that does not hold. For tests. */
  checkInvariants(): void {
    const check = (holds: boolean, invariant: string) => {
      if (!holds) throw new Error(`broken invariant of the queue: ${invariant}`);
    };
    for (const [key, { partition, priority }] of this.waiting) {
      check(!this.delayed.has(key), `${key} waits and is not delayed`);
      check(!this.working.has(key), `${key} waits and is not in work`);
      const places = [...this.partitions.values()].flatMap(({ change, resync }) => [change, resync]);
      check(places.filter((place) => place.has(key)).length === 1, `${key} waits in one place`);
      check(partition[priority].has(key), `${key} waits where its entry says`);
    }
    for (const key of this.dirty.keys()) check(this.working.has(key), `${key} is dirty and in work`);
    for (const partition of this.partitions.values()) {
      const { active, change, hanging, name, resync } = partition;
      const inWork = [...this.working.values()].filter((work) => work.partition === partition).length;
      const waits = change.size + resync.size > 0;
      check(active === inWork, `partition ${name} counts its work`);
      check(waits || active > 0 || hanging, `partition ${name} is not empty`);
      check(
        this.runnable.has(partition) === (waits && this.hasFreeSlot(partition)),
        `partition ${name} is runnable when it has a waiting key and a free slot`,
      );
    }
    const fast = [...this.working.values()].filter(({ slow }) => !slow).length;
    check(this.busy === fast, 'busy counts the work that is not slow');
    for (const partition of this.runnable)
      check(this.partitions.get(partition.name) === partition, `partition ${partition.name} is known`);
  }

  private admit(key: Key, priority: Priority): void {
    // As in client-go, a key that is queued already is not counted again.
    if (!this.waiting.has(key) && !this.dirty.has(key)) this.options.observer?.added(key);
    if (this.working.has(key)) this.dirty.set(key, strongest(this.dirty.get(key), priority));
    else this.enqueue(key, priority);
  }

  /**
   * Adds a key that is not being processed to its partition, which may differ from the partition in which it
   * waits.
   */
  private enqueue(key: Key, added: Priority): void {
    const name = this.options.partitionOf(key);
    const before = this.waiting.get(key);
    const priority = strongest(before?.priority ?? this.delayed.remove(key), added);
    if (before) {
      if (before.partition.name === name && before.priority === priority) return; // the key keeps its place
      this.dequeue(key, before);
    }
    const partition = this.partition(name);
    partition[priority].add(key);
    this.waiting.set(key, { partition, priority, since: before?.since ?? this.options.clock.monotonic() });
    this.updateRunnable(partition);
  }

  private dequeue(key: Key, { partition, priority }: Waiting<Key>): void {
    this.waiting.delete(key);
    partition[priority].delete(key);
    this.updateRunnable(partition);
  }

  private partition(name: string): Partition<Key> {
    let partition = this.partitions.get(name);
    if (!partition) {
      this.forgetIdlePartitions();
      partition = {
        name,
        change: new Set(),
        resync: new Set(),
        active: 0,
        hanging: false,
        lastWorkedAt: -Infinity,
      };
      this.partitions.set(name, partition);
    }
    return partition;
  }

  /** Removes idle partitions, which are kept only to remember that they hang. */
  private forgetIdlePartitions(): void {
    const since = this.options.clock.monotonic() - HANGING_RETENTION;
    for (const { name, active, change, resync, lastWorkedAt } of this.partitions.values())
      if (active + change.size + resync.size === 0 && lastWorkedAt < since) this.partitions.delete(name);
  }

  private updateRunnable(partition: Partition<Key>): void {
    const waits = partition.change.size + partition.resync.size > 0;
    if (waits && this.hasFreeSlot(partition)) this.runnable.add(partition);
    else this.runnable.delete(partition);
    if (!waits && partition.active === 0 && !partition.hanging) this.partitions.delete(partition.name);
  }

  private hasFreeSlot({ active, hanging }: Partition<Key>): boolean {
    return active < (hanging ? 1 : this.options.perPartition);
  }

  /** Starts work on the free workers. */
  private dispatch(): void {
    while (this.state === 'running' && this.busy < this.options.workers) {
      const partition = this.nextPartition();
      if (!partition) return;
      const source = partition.change.size > 0 ? partition.change : partition.resync;
      void this.work(source.values().next().value!, partition);
    }
  }

  /** The first runnable partition that has a change; if none has one, the first runnable partition. */
  private nextPartition(): Partition<Key> | undefined {
    let first: Partition<Key> | undefined;
    for (const partition of this.runnable) {
      if (partition.change.size > 0) return partition;
      first ??= partition;
    }
    return first;
  }

  private async work(key: Key, partition: Partition<Key>): Promise<void> {
    const { clock, observer } = this.options;
    const startedAt = clock.monotonic();
    const waiting = this.waiting.get(key)!;
    partition.active += 1;
    this.runnable.delete(partition); // to the end of the order, if the partition has more keys
    this.dequeue(key, waiting);
    const work: Work<Key> = { partition, startedAt, slow: false };
    this.working.set(key, work);
    this.busy += 1;
    if (!this.slowTimer.pending) this.slowTimer.set(this.options.slowAfter, () => this.markSlow());
    observer?.started(key, startedAt - waiting.since);
    try {
      await this.options.work(key);
    } finally {
      const worked = clock.monotonic() - startedAt;
      this.working.delete(key);
      if (!work.slow) this.busy -= 1;
      observer?.finished(key, worked);
      partition.active -= 1;
      partition.hanging = worked >= this.options.hangingAfter;
      partition.lastWorkedAt = clock.monotonic();
      this.updateRunnable(partition);
      const priority = this.dirty.get(key);
      this.dirty.delete(key);
      if (priority && this.state !== 'stopped') this.enqueue(key, priority);
      if (this.working.size === 0) for (const resolve of this.onIdle.splice(0)) resolve();
      this.dispatch();
    }
  }

  /** Called by a timer: frees the workers of work that has become slow. */
  private markSlow(): void {
    const now = this.options.clock.monotonic();
    for (const work of this.working.values()) {
      if (work.slow) continue;
      const remaining = work.startedAt + this.options.slowAfter - now;
      if (remaining > 0) {
        this.slowTimer.set(remaining, () => this.markSlow());
        break; // later entries are younger
      }
      work.slow = true;
      this.busy -= 1;
    }
    this.dispatch();
  }
}
