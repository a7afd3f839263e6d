import type { Clock } from '../../base/clock';
import { Timer } from '../../base/timer';
import { TokenRejected } from './errors';

/**
 * Milliseconds between two attempts with a rejected token. Doubles with each attempt, so that repeated restarts of the
 * hub do not lead to a ban.
 */
const FIRST_DELAY = 5 * 60_000;
const MAX_DELAY = 6 * 3_600_000;
/**
 * Milliseconds between two checks whether the hub is down. Shorter than a restart of the hub, so that no
 * restart is missed.
 */
const PROBE_INTERVAL = 5_000;

/**
 * Prevents a rejected token from being sent repeatedly: the hub counts each attempt as a failed login until
 * it restarts, and hundreds of resources share the token. After a rejection, all uses fail at once. One use
 * is admitted after the hub was down, because a restart (for example with a restored backup) can make a
 * rejected token valid again. What else can, such as a proxy that answered 401, or a user who is activated again,
 * is not seen: a person requests that use. A new token gets its own `AuthBackoff` (rules.md, "Token").
 */
export class AuthBackoff {
  private delay = 0;
  private notBefore = 0;
  private wasDown = false;
  /** Whether one use was admitted after a rejection and has no answer yet. */
  private probing = false;
  private rejection: string | undefined;
  /** The last request of a person for a further use. */
  private requested: string | undefined;
  private readonly poll: Timer;

  /** @param isDown checks without a token whether the hub is down; by default, a restart is never detected */
  constructor(
    private readonly clock: Clock,
    private readonly isDown: () => Promise<boolean> = () => Promise.resolve(false),
  ) {
    this.poll = new Timer(clock);
  }

  /** Whether the next use would fail at once. */
  get isBlocked(): boolean {
    if (this.rejection === undefined) return false;
    return this.probing || !this.wasDown || this.clock.monotonic() < this.notBefore;
  }

  /** @throws TokenRejected while the token must not be sent */
  admit(): void {
    if (this.rejection === undefined) return;
    if (this.isBlocked) throw new TokenRejected(this.rejection);
    this.probing = true;
  }

  /**
   * Admits one use of a rejected token at the request of a person. A repeated call for the same request has no
   * effect: the reconcile that makes it may be repeated.
   */
  admitOnRequest(request: string): void {
    if (request === this.requested) return;
    this.requested = request;
    this.wasDown = true;
    this.notBefore = -Infinity;
  }

  /** To be called when the admitted use got no answer: the token may still be valid. */
  recordNoAnswer(): void {
    this.probing = false;
  }

  recordRejection(error: TokenRejected): void {
    if (this.rejection !== undefined && !this.probing) return; // the use began before the rejection
    this.rejection = error.answer;
    this.probing = false;
    this.wasDown = false;
    this.delay = Math.min(this.delay * 2 || FIRST_DELAY, MAX_DELAY);
    this.notBefore = this.clock.monotonic() + this.delay;
    this.scheduleProbe();
  }

  recordSuccess(): void {
    this.rejection = undefined;
    this.probing = false;
    this.delay = 0;
    this.poll.clear();
  }

  close(): void {
    this.poll.clear();
  }

  private scheduleProbe(): void {
    this.poll.set(PROBE_INTERVAL, () => {
      void this.isDown().then((isDown) => {
        if (isDown) this.wasDown = true;
        else if (!this.wasDown && this.rejection !== undefined) this.scheduleProbe();
      });
    });
  }
}
