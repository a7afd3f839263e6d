import TinyQueue from 'tinyqueue';
import type { Clock } from '../clock';
import { BACKOFF_FIRST, BACKOFF_LAST } from '../limits';
import { backoffDelay } from './backoff';

/** What a person or the hub changed overtakes what is only looked at again. */
export type Priority = 'change' | 'resync';

export interface QueueOptions<Key extends string = string> {
  readonly clock: Clock;
  /** Keys worked at the same time. */
  readonly workers: number;
  /** Keys of one partition (one hub) worked at the same time: a slow hub never takes all workers. */
  readonly perPartition: number;
  readonly partitionOf: (key: Key) => string;
  /** Works one key. It must not reject: what to do about an error is its own decision. */
  readonly work: (key: Key) => Promise<void>;
  readonly observer?: QueueObserver<Key>;
}

export interface QueueObserver<Key extends string = string> {
  added(key: Key): void;
  retried(key: Key): void;
  /** `waited`: milliseconds between the moment the key was due and the start of its work. */
  started(key: Key, waited: number): void;
  /** `worked`: milliseconds. */
  finished(key: Key, worked: number): void;
}

interface Partition<Key> {
  readonly name: string;
  /** Keys to be worked, in the order in which they came. */
  readonly change: Set<Key>;
  readonly resync: Set<Key>;
  active: number;
}

interface Waiting<Key> {
  readonly partition: Partition<Key>;
  readonly priority: Priority;
  readonly since: number;
}

interface Delayed {
  readonly due: number;
  readonly priority: Priority;
}

/**
 * Keys to be worked, each at most once at a time. A key that is added while it is worked is worked again afterwards;
 * of several delayed adds the earliest counts, of several priorities the strongest; partitions take turns.
 */
export class WorkQueue<Key extends string = string> {
  private readonly partitions = new Map<string, Partition<Key>>();
  /** Partitions with a key to work and a free place, in the order of their turns. */
  private readonly runnable = new Set<Partition<Key>>();
  private readonly waiting = new Map<Key, Waiting<Key>>();
  /** Keys in work, and since when. */
  private readonly working = new Map<Key, number>();
  /** Keys in work that have to be worked again. */
  private readonly dirty = new Map<Key, Priority>();
  private readonly delayed = new Map<Key, Delayed>();
  /** What is delayed by the time it is due, with entries that were overtaken meanwhile. */
  private readonly timetable = new TinyQueue<{ key: Key; due: number }>([], (a, b) => a.due - b.due);
  private readonly failures = new Map<Key, number>();
  private cancelTimer: (() => void) | undefined;
  private timerDue = Infinity;
  private state: 'paused' | 'running' | 'stopped' = 'paused';
  private readonly whenIdle: (() => void)[] = [];

  constructor(private readonly options: QueueOptions<Key>) {}

  /** The keys that are due and not yet worked. */
  due(): Iterable<Key> {
    return this.waiting.keys();
  }

  get active(): number {
    return this.working.size;
  }

  get running(): boolean {
    return this.state === 'running';
  }

  /** The work in hand: each key, and for how many milliseconds it has been worked. */
  *inProgress(): Generator<readonly [key: Key, age: number]> {
    const now = this.options.clock.monotonic();
    for (const [key, startedAt] of this.working) yield [key, now - startedAt];
  }

  /** Milliseconds since the oldest work in hand began; 0 when there is none. */
  longestRunning(): number {
    let longest = 0;
    for (const [, age] of this.inProgress()) longest = Math.max(longest, age);
    return longest;
  }

  /**
   * Milliseconds that the oldest key has been due although nothing keeps it from being worked: a worker is free, its
   * partition has a place. More than a moment means that the queue has lost its thread.
   */
  longestUnscheduled(): number {
    const { clock, perPartition, workers } = this.options;
    if (!this.running || this.working.size >= workers) return 0;
    let oldest = this.timetable.peek()?.due ?? Infinity;
    for (const { partition, since } of this.waiting.values())
      if (partition.active < perPartition) oldest = Math.min(oldest, since);
    return Math.max(0, clock.monotonic() - oldest);
  }

  /** Begins to work; until then keys are only collected. A queue that was stopped stays so. */
  start(): void {
    if (this.state !== 'paused') return;
    this.state = 'running';
    this.pump();
  }

  /** No key is begun any more; resolves when the work in hand has ended. */
  async stop(): Promise<void> {
    this.state = 'stopped';
    this.cancelTimer?.();
    if (this.working.size > 0) await new Promise<void>((resolve) => this.whenIdle.push(resolve));
  }

  add(key: Key, priority: Priority = 'change'): void {
    if (this.state === 'stopped') return;
    this.take(key, priority);
    this.pump();
  }

  addAfter(key: Key, delay: number, priority: Priority = 'change'): void {
    if (this.state === 'stopped') return;
    if (delay <= 0) return this.add(key, priority);
    const due = this.options.clock.monotonic() + delay;
    if (this.waiting.has(key)) return;
    const present = this.delayed.get(key);
    const earlier = present !== undefined && present.due <= due;
    this.delayed.set(key, {
      due: earlier ? present.due : due,
      priority: strongest(present?.priority, priority),
    });
    if (earlier) return;
    this.timetable.push({ key, due });
    this.schedule();
  }

  /**
   * Works the key again after its backoff, which doubles with each call until {@link forget}; not before `atLeast`
   * milliseconds and not after `atMost`, if somebody asked for that.
   */
  retry(key: Key, atLeast = 0, atMost = BACKOFF_LAST): void {
    const failures = this.failures.get(key) ?? 0;
    this.failures.set(key, failures + 1);
    this.options.observer?.retried(key);
    this.addAfter(key, Math.max(atLeast, backoffDelay(failures, BACKOFF_FIRST, atMost)));
  }

  /** The key's work succeeded: its backoff starts anew. */
  forget(key: Key): void {
    this.failures.delete(key);
  }

  private take(key: Key, priority: Priority): void {
    this.options.observer?.added(key);
    if (this.working.has(key)) this.dirty.set(key, strongest(this.dirty.get(key), priority));
    else this.enqueue(key, priority);
  }

  /** Puts a key that is not in work into its partition, which may be another one than the one it waits in. */
  private enqueue(key: Key, priority: Priority): void {
    const name = this.options.partitionOf(key);
    const before = this.waiting.get(key);
    const asked = strongest((before ?? this.delayed.get(key))?.priority, priority);
    this.delayed.delete(key);
    if (before) {
      if (before.partition.name === name && before.priority === asked) return; // it keeps its place in the line
      this.unqueue(key, before);
    }
    const partition = this.partition(name);
    partition[asked].add(key);
    this.waiting.set(key, {
      partition,
      priority: asked,
      since: before?.since ?? this.options.clock.monotonic(),
    });
    this.settle(partition);
  }

  private unqueue(key: Key, { partition, priority }: Waiting<Key>): void {
    this.waiting.delete(key);
    partition[priority].delete(key);
    this.settle(partition);
  }

  private partition(name: string): Partition<Key> {
    let partition = this.partitions.get(name);
    if (!partition) {
      partition = { name, change: new Set(), resync: new Set(), active: 0 };
      this.partitions.set(name, partition);
    }
    return partition;
  }

  /** Brings the list of turns up to date with what the partition has to work. */
  private settle(partition: Partition<Key>): void {
    const waits = partition.change.size + partition.resync.size > 0;
    if (waits && partition.active < this.options.perPartition) this.runnable.add(partition);
    else this.runnable.delete(partition);
    if (!waits && partition.active === 0) this.partitions.delete(partition.name);
  }

  private pump(): void {
    while (this.state === 'running' && this.working.size < this.options.workers) {
      const partition = this.nextPartition();
      if (!partition) return;
      const source = partition.change.size > 0 ? partition.change : partition.resync;
      void this.work(source.values().next().value!, partition);
    }
  }

  /** The first partition in line that holds a change; if none does, the first in line. */
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
    this.runnable.delete(partition); // to the end of the line, if it has more
    this.unqueue(key, waiting);
    this.working.set(key, startedAt);
    observer?.started(key, startedAt - waiting.since);
    try {
      await this.options.work(key);
    } finally {
      this.working.delete(key);
      observer?.finished(key, clock.monotonic() - startedAt);
      partition.active -= 1;
      this.settle(partition);
      const again = this.dirty.get(key);
      this.dirty.delete(key);
      if (again && this.state !== 'stopped') this.enqueue(key, again);
      if (this.working.size === 0) for (const resolve of this.whenIdle.splice(0)) resolve();
      this.pump();
    }
  }

  private schedule(): void {
    const next = this.timetable.peek();
    if (!next || next.due >= this.timerDue) return;
    this.cancelTimer?.();
    this.timerDue = next.due;
    this.cancelTimer = this.options.clock.after(next.due - this.options.clock.monotonic(), () =>
      this.release(),
    );
  }

  /** Moves what is due from the timetable to the queue, all of it before the next choice is made. */
  private release(): void {
    this.timerDue = Infinity;
    const now = this.options.clock.monotonic();
    for (let next = this.timetable.peek(); next && next.due <= now; next = this.timetable.peek()) {
      this.timetable.pop();
      const delayed = this.delayed.get(next.key);
      if (delayed?.due === next.due) this.take(next.key, delayed.priority);
    }
    this.pump();
    this.schedule();
  }
}

const strongest = (one: Priority | undefined, other: Priority): Priority =>
  one === 'change' ? 'change' : other;
