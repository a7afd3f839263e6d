import type { Clock } from '../../base/clock';
import type { ConfigEntityKind } from '../connection/config-entity';

/** Milliseconds after which an expected reload that the hub has not announced is dropped. */
const OVERDUE = 30_000;

interface ExpectedReloads {
  pending: number;
  readonly lastAt: number;
}

/**
 * Distinguishes reloads that the operator causes from those of other clients. The hub announces each reload,
 * including one per write. It does not reliably tell who caused it, since a user may log in as the operator's
 * user. Expected reloads are therefore counted.
 */
export class OwnReloadTracker {
  private readonly clock: Clock;
  private readonly entries = new Map<string, ExpectedReloads>();

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /**
   * Counts an expected reload. Must be called before the write or the reload: the announcement can arrive
   * before the answer.
   *
   * @param id id of the written automation, which the announcement contains; announcements for scenes and
   * scripts have no id
   */
  expect(kind: ConfigEntityKind, id?: string): void {
    this.dropOverdue();
    const name = nameOf(kind, id);
    const pending = (this.entries.get(name)?.pending ?? 0) + 1;
    this.entries.delete(name); // the map is ordered by `lastAt`
    this.entries.set(name, { pending, lastAt: this.clock.monotonic() });
  }

  /**
   * To be called when the write or reload failed. If its reload is announced nevertheless, it counts as that
   * of another client.
   */
  cancel(kind: ConfigEntityKind, id?: string): void {
    this.takeOne(nameOf(kind, id));
  }

  /** To be called when the hub has announced a reload. @returns whether the operator caused it */
  consume(kind: ConfigEntityKind, id?: string): boolean {
    this.dropOverdue();
    return this.takeOne(nameOf(kind, id));
  }

  /** Number of names with expected reloads. */
  get size(): number {
    return this.entries.size;
  }

  /** To be called when the connection was lost: announcements may have been lost with it. */
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
