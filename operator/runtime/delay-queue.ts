import type { Clock } from '../base/clock';
import { Timer } from '../base/timer';
import { type Priority, strongest } from './priority';

interface Entry<Key> {
  readonly key: Key;
  /** Time at which the entry is due, by the monotonic clock. */
  due: number;
  priority: Priority;
  /** Position in the heap. */
  index: number;
}

interface DueKey<Key> {
  readonly key: Key;
  readonly priority: Priority;
}

/**
 * A queue of unique keys ordered by due time. A binary heap whose entries store their position, so that an entry can be
 * moved or removed directly.
 */
export class DelayQueue<Key> {
  private readonly entries = new Map<Key, Entry<Key>>();
  /** The entry at i is due no later than those at 2i + 1 and 2i + 2. */
  private readonly delayHeap: Entry<Key>[] = [];
  private readonly timer: Timer;
  private timerDue = Infinity;

  constructor(
    private readonly clock: Clock,
    /** Called with all keys that are due at the same time. */
    private readonly onDue: (keys: readonly DueKey<Key>[]) => void,
  ) {
    this.timer = new Timer(clock);
  }

  get size(): number {
    return this.delayHeap.length;
  }

  /** Time at which the next key is due, by the monotonic clock; Infinity if there is no key. */
  get nextDue(): number {
    return this.delayHeap[0]?.due ?? Infinity;
  }

  has(key: Key): boolean {
    return this.entries.has(key);
  }

  /** Adds a key. For a key that is present, the earlier time and the higher priority count. */
  add(key: Key, delay: number, priority: Priority): void {
    const due = this.clock.monotonic() + delay;
    const present = this.entries.get(key);
    if (present) {
      present.priority = strongest(present.priority, priority);
      if (present.due <= due) return;
      present.due = due;
      this.moveUp(present);
    } else {
      const entry = { key, due, priority, index: this.delayHeap.length };
      this.entries.set(key, entry);
      this.delayHeap.push(entry);
      this.moveUp(entry);
    }
    this.schedule();
  }

  /** Removes a key before it is due. @returns its priority, or undefined if it is not in the queue */
  remove(key: Key): Priority | undefined {
    const entry = this.entries.get(key);
    if (!entry) return undefined;
    this.entries.delete(key);
    const last = this.delayHeap.pop()!;
    if (last !== entry) {
      this.place(last, entry.index);
      this.moveUp(last);
      this.moveDown(last);
    }
    return entry.priority;
  }

  /** Prevents all further callbacks. */
  stop(): void {
    this.timer.clear();
    this.timerDue = 0;
  }

  private schedule(): void {
    if (this.nextDue >= this.timerDue) return;
    this.timerDue = this.nextDue;
    this.timer.set(this.timerDue - this.clock.monotonic(), () => this.release());
  }

  private release(): void {
    this.timerDue = Infinity;
    const now = this.clock.monotonic();
    const due: DueKey<Key>[] = [];
    for (let next = this.delayHeap[0]; next && next.due <= now; next = this.delayHeap[0]) {
      this.remove(next.key);
      due.push(next);
    }
    this.schedule();
    if (due.length > 0) this.onDue(due);
  }

  private moveUp(entry: Entry<Key>): void {
    while (entry.index > 0) {
      const parent = this.delayHeap[(entry.index - 1) >> 1]!;
      if (parent.due <= entry.due) return;
      this.swap(entry, parent);
    }
  }

  private moveDown(entry: Entry<Key>): void {
    for (;;) {
      const left = this.delayHeap[2 * entry.index + 1];
      const right = this.delayHeap[2 * entry.index + 2];
      const child = left && right && right.due < left.due ? right : left;
      if (!child || entry.due <= child.due) return;
      this.swap(entry, child);
    }
  }

  private swap(one: Entry<Key>, other: Entry<Key>): void {
    const { index } = one;
    this.place(one, other.index);
    this.place(other, index);
  }

  private place(entry: Entry<Key>, index: number): void {
    entry.index = index;
    this.delayHeap[index] = entry;
  }
}
