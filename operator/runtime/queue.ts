import TinyQueue from 'tinyqueue';
import type { Clock } from '../clock';
import { BACKOFF_FIRST, BACKOFF_LAST } from '../limits';
import { backoffDelay } from './backoff';

/** What a person or the hub changed overtakes what is only looked at again. */
export type Priority = 'change' | 'resync';

export interface QueueOptions {
  readonly clock: Clock;
  /** Keys worked at the same time. */
  readonly workers: number;
  /** Keys of one partition (one hub) worked at the same time: a slow hub never takes all workers. */
  readonly perPartition: number;
  readonly partitionOf: (key: string) => string;
  /** Works one key. It must not reject: what to do about an error is its own decision. */
  readonly work: (key: string) => Promise<void>;
  readonly observer?: QueueObserver;
}

export interface QueueObserver {
  added(key: string): void;
  retried(key: string): void;
  /** `waited`: milliseconds between the moment the key was due and the start of its work. */
  started(key: string, waited: number): void;
  /** `worked`: milliseconds. */
  finished(key: string, worked: number): void;
}

interface Partition {
  readonly change: Set<string>;
  readonly resync: Set<string>;
  active: number;
}

interface Delayed {
  readonly due: number;
  readonly priority: Priority;
}

/**
 * Keys to be worked, each at most once at a time. A key that is added while it is worked is worked again afterwards;
 * of several delayed adds the earliest counts; partitions take turns.
 */
export class WorkQueue {
  private readonly partitions = new Map<string, Partition>();
  /** Partitions with a key to work and a free place, in the order of their turns. */
  private readonly runnable = new Set<string>();
  private readonly waitingSince = new Map<string, number>();
  private readonly working = new Map<string, number>();
  private readonly dirty = new Map<string, Priority>();
  private readonly delayed = new Map<string, Delayed>();
  private readonly timetable = new TinyQueue<{ key: string; due: number }>([], (a, b) => a.due - b.due);
  private readonly failures = new Map<string, number>();
  private cancelTimer: (() => void) | undefined;
  private timerDue = Infinity;
  private state: 'paused' | 'running' | 'stopped' = 'paused';
  private idle: (() => void)[] = [];

  constructor(private readonly options: QueueOptions) {}

  /** The keys that are due and not yet worked. */
  due(): Iterable<string> {
    return this.waitingSince.keys();
  }

  get active(): number {
    return this.working.size;
  }

  /** Milliseconds since the oldest work in hand began; 0 when there is none. */
  longestRunning(): number {
    let oldest = Infinity;
    for (const startedAt of this.working.values()) oldest = Math.min(oldest, startedAt);
    return oldest === Infinity ? 0 : this.options.clock.now() - oldest;
  }

  /** Sum of the milliseconds that all work in hand has taken so far. */
  unfinishedWork(): number {
    let sum = 0;
    for (const startedAt of this.working.values()) sum += this.options.clock.now() - startedAt;
    return sum;
  }

  start(): void {
    this.state = 'running';
    this.schedule();
    this.pump();
  }

  /** No key is begun any more; resolves when the work in hand has ended. */
  async stop(): Promise<void> {
    this.state = 'stopped';
    this.cancelTimer?.();
    if (this.working.size > 0) await new Promise<void>((resolve) => this.idle.push(resolve));
  }

  add(key: string, priority: Priority = 'change'): void {
    if (this.state === 'stopped') return;
    this.options.observer?.added(key);
    this.delayed.delete(key);
    if (this.working.has(key)) {
      if (this.dirty.get(key) !== 'change') this.dirty.set(key, priority);
      return;
    }
    const name = this.options.partitionOf(key);
    const partition = this.partition(name);
    if (priority === 'change') partition.resync.delete(key);
    else if (partition.change.has(key)) return;
    partition[priority].add(key);
    if (!this.waitingSince.has(key)) this.waitingSince.set(key, this.options.clock.now());
    this.settle(name, partition);
    this.pump();
  }

  addAfter(key: string, delay: number, priority: Priority = 'change'): void {
    if (this.state === 'stopped') return;
    if (delay <= 0) return this.add(key, priority);
    const due = this.options.clock.now() + delay;
    const present = this.delayed.get(key);
    if (this.waitingSince.has(key) || (present && present.due <= due)) return;
    this.delayed.set(key, { due, priority });
    this.timetable.push({ key, due });
    this.schedule();
  }

  /** Works the key again after its backoff, which doubles with each call until {@link forget}. */
  retry(key: string): void {
    const failures = this.failures.get(key) ?? 0;
    this.failures.set(key, failures + 1);
    this.options.observer?.retried(key);
    this.addAfter(key, backoffDelay(failures, BACKOFF_FIRST, BACKOFF_LAST));
  }

  /** The key's work succeeded: its backoff starts anew. */
  forget(key: string): void {
    this.failures.delete(key);
  }

  /** The key's object is gone: nothing of it is kept. */
  drop(key: string): void {
    this.failures.delete(key);
    this.delayed.delete(key);
    this.dirty.delete(key);
  }

  private partition(name: string): Partition {
    let partition = this.partitions.get(name);
    if (!partition) this.partitions.set(name, (partition = { change: new Set(), resync: new Set(), active: 0 }));
    return partition;
  }

  /** Brings the list of turns up to date with what the partition has to work. */
  private settle(name: string, partition: Partition): void {
    const waiting = partition.change.size + partition.resync.size;
    if (waiting > 0 && partition.active < this.options.perPartition) this.runnable.add(name);
    else this.runnable.delete(name);
    if (waiting === 0 && partition.active === 0) this.partitions.delete(name);
  }

  private pump(): void {
    while (this.state === 'running' && this.working.size < this.options.workers) {
      const name = this.nextPartition();
      if (name === undefined) return;
      const partition = this.partitions.get(name)!;
      const source = partition.change.size > 0 ? partition.change : partition.resync;
      const key = source.values().next().value!;
      source.delete(key);
      partition.active += 1;
      this.runnable.delete(name); // to the end of the line, if it has more
      this.settle(name, partition);
      void this.work(key, name, partition);
    }
  }

  /** The first partition in line that holds a change; if none does, the first in line. */
  private nextPartition(): string | undefined {
    let first: string | undefined;
    for (const name of this.runnable) {
      if (this.partitions.get(name)!.change.size > 0) return name;
      first ??= name;
    }
    return first;
  }

  private async work(key: string, name: string, partition: Partition): Promise<void> {
    const { clock, observer } = this.options;
    const startedAt = clock.now();
    observer?.started(key, startedAt - this.waitingSince.get(key)!);
    this.waitingSince.delete(key);
    this.working.set(key, startedAt);
    try {
      await this.options.work(key);
    } finally {
      this.working.delete(key);
      observer?.finished(key, clock.now() - startedAt);
      partition.active -= 1;
      const again = this.dirty.get(key);
      this.dirty.delete(key);
      this.settle(name, partition);
      if (again) this.add(key, again);
      if (this.working.size === 0) for (const resolve of this.idle.splice(0)) resolve();
      this.pump();
    }
  }

  private schedule(): void {
    if (this.state === 'stopped') return;
    const next = this.timetable.peek();
    if (!next || next.due >= this.timerDue) return;
    this.cancelTimer?.();
    this.timerDue = next.due;
    this.cancelTimer = this.options.clock.after(next.due - this.options.clock.now(), () => this.release());
  }

  /** Moves what is due from the timetable to the queue. Entries that were overtaken meanwhile are skipped. */
  private release(): void {
    this.timerDue = Infinity;
    const now = this.options.clock.now();
    for (let next = this.timetable.peek(); next && next.due <= now; next = this.timetable.peek()) {
      this.timetable.pop();
      const entry = this.delayed.get(next.key);
      if (entry?.due === next.due) this.add(next.key, entry.priority);
    }
    this.schedule();
  }
}
