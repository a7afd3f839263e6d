import type { Clock } from '../clock';
import type { ConfigEntityKind } from './config-entity';

/** A reload that the hub has not announced within this time will not come any more. */
const OVERDUE = 30_000;

interface ExpectedReloads {
  pending: number;
  readonly lastAt: number;
}

/**
 * Tells the reloads that we cause from those that somebody else does. The hub announces each reload, one for every
 * write as well, but not whose it is (a person may share our user): so they are counted.
 */
export class OwnReloadTracker {
  private readonly clock: Clock;
  private readonly entries = new Map<string, ExpectedReloads>();

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /**
   * Call it before the write or the reload: its announcement can overtake the answer.
   *
   * @param id of the automation that is written: the announcement names it. Those of scenes and scripts do not.
   */
  expect(kind: ConfigEntityKind, id?: string): void {
    this.dropOverdue();
    const name = nameOf(kind, id);
    const pending = (this.entries.get(name)?.pending ?? 0) + 1;
    this.entries.delete(name); // the map is in the order of `lastAt`
    this.entries.set(name, { pending, lastAt: this.clock.monotonic() });
  }

  /** The write or reload was rejected or failed. If its reload comes nevertheless, it counts as somebody else's. */
  cancel(kind: ConfigEntityKind, id?: string): void {
    this.takeOne(nameOf(kind, id));
  }

  /** The hub has announced a reload. @returns whether it is one of ours */
  consume(kind: ConfigEntityKind, id?: string): boolean {
    this.dropOverdue();
    return this.takeOne(nameOf(kind, id));
  }

  /** How many entries are kept: only those of reloads that are still expected. */
  get size(): number {
    return this.entries.size;
  }

  /** Announcements were missed. */
  reset(): void {
    this.entries.clear();
  }

  private takeOne(name: string): boolean {
    const entry = this.entries.get(name);
    if (!entry) return false;
    entry.pending -= 1;
    if (entry.pending === 0) this.entries.delete(name);
    return true;
  }

  private dropOverdue(): void {
    for (const [name, { lastAt }] of this.entries) {
      if (this.clock.monotonic() - lastAt <= OVERDUE) return;
      this.entries.delete(name);
    }
  }
}

function nameOf(kind: ConfigEntityKind, id: string | undefined): string {
  return kind === 'automation' && id !== undefined ? `${kind} ${id}` : kind;
}
