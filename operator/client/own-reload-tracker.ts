import type { Clock } from '../clock';
import type { ConfigEntityKind } from './config-entity';

/** A reload that the hub has not announced within this time will not come any more. */
const OVERDUE = 30_000;

interface ExpectedReloads {
  pending: number;
  lastAt: number;
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
    const entry = this.entry(kind, id);
    entry.pending += 1;
    entry.lastAt = this.clock.monotonic();
  }

  /** It was refused or failed. Should the reload come nevertheless, it is taken for somebody else's. */
  cancel(kind: ConfigEntityKind, id?: string): void {
    const entry = this.entry(kind, id);
    entry.pending = Math.max(0, entry.pending - 1);
  }

  /** The hub has announced a reload. Answers whether it is ours. */
  consume(kind: ConfigEntityKind, id?: string): boolean {
    const entry = this.entry(kind, id);
    if (this.clock.monotonic() - entry.lastAt > OVERDUE) entry.pending = 0;
    if (entry.pending === 0) return false;
    entry.pending -= 1;
    return true;
  }

  /** Announcements were missed. */
  reset(): void {
    this.entries.clear();
  }

  private entry(kind: ConfigEntityKind, id?: string): ExpectedReloads {
    const name = kind === 'automation' && id !== undefined ? `${kind} ${id}` : kind;
    let entry = this.entries.get(name);
    if (!entry) this.entries.set(name, (entry = { pending: 0, lastAt: this.clock.monotonic() }));
    return entry;
  }
}
