import type { Clock } from '../clock';
import type { ConfigEntityKind } from './config-entities';

/** A reload that the hub has not announced within this time will not come any more. */
const OVERDUE_MS = 30_000;

interface Account {
  owed: number;
  lastAt: number;
}

/**
 * Tells the reloads that we cause from those that somebody else does. The hub announces each reload, one for every
 * write as well, but not whose it is (a person may share our user): so they are counted.
 */
export class ReloadLedger {
  readonly #clock: Clock;
  readonly #accounts = new Map<string, Account>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Call it before the write or the reload: its announcement can overtake the answer.
   *
   * @param id of the automation that is written: the announcement names it. Those of scenes and scripts do not.
   */
  expect(kind: ConfigEntityKind, id?: string): void {
    const account = this.#account(kind, id);
    account.owed += 1;
    account.lastAt = this.#clock.monotonic();
  }

  /** It was refused or failed. Should the reload come nevertheless, it is taken for somebody else's. */
  cancel(kind: ConfigEntityKind, id?: string): void {
    const account = this.#account(kind, id);
    account.owed = Math.max(0, account.owed - 1);
  }

  /** The hub has announced a reload. Answers whether it is ours. */
  settle(kind: ConfigEntityKind, id?: string): boolean {
    const account = this.#account(kind, id);
    if (this.#clock.monotonic() - account.lastAt > OVERDUE_MS) account.owed = 0;
    if (account.owed === 0) return false;
    account.owed -= 1;
    return true;
  }

  /** Announcements were missed. */
  reset(): void {
    this.#accounts.clear();
  }

  #account(kind: ConfigEntityKind, id?: string): Account {
    const name = kind === 'automation' && id !== undefined ? `${kind} ${id}` : kind;
    let account = this.#accounts.get(name);
    if (!account) this.#accounts.set(name, (account = { owed: 0, lastAt: this.#clock.monotonic() }));
    return account;
  }
}
