import type { Clock } from '../clock';
import { Timer } from '../timer';
import { TokenRejected } from './errors';

/** Between two attempts with a rejected token: doubles with each, so that no sequence of hub restarts adds up to a ban. */
const FIRST_DELAY = 5 * 60_000;
const MAX_DELAY = 6 * 3_600_000;
/** A restart takes the hub longer than this, so that none is missed. */
const PROBE_INTERVAL = 5_000;

/**
 * Keeps a rejected token from being sent again: each attempt is a failed login, the hub counts those until it restarts,
 * and hundreds of resources share the token. After a rejection all uses fail at once. One is admitted after the hub was
 * seen to be down, since only a restart (with a restored backup, say) can make a rejected token valid again. A new token
 * has an `AuthBackoff` of its own (rules.md, "Token").
 */
export class AuthBackoff {
  private delay = 0;
  private notBefore = 0;
  private wasDown = false;
  /** One use was admitted after a rejection, and is not answered yet. */
  private probing = false;
  private rejection: string | undefined;
  private readonly poll: Timer;

  /** @param isDown asks the hub without a token whether it is down; absent: a restart is never noticed */
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

  /** The admitted use got no answer: the token was not judged. */
  recordNoAnswer(): void {
    this.probing = false;
  }

  recordRejection(error: TokenRejected): void {
    if (this.rejection !== undefined && !this.probing) return; // in flight together with one that was rejected
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
