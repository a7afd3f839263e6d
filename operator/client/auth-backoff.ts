import type { Clock } from '../clock';
import { TokenRejected } from './errors';

const FIRST_DELAY = 5 * 60_000;
const MAX_DELAY = 6 * 3_600_000;

/**
 * Keeps a rejected token from being sent again and again: every 401 feeds the hub's ban, and hundreds of resources
 * share the one token. After a rejection all uses fail at once; one is let through after 5 minutes, the next after
 * 10, and so on up to six hours (a token comes back to life only when a backup is restored). A new token has a new
 * gate.
 */
export class AuthBackoff {
  private readonly clock: Clock;
  private delay = 0;
  private notBefore = 0;
  /** One use has been let through and is not answered yet. */
  private probing = false;
  private lastAnswer = '';

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** Milliseconds until the next use is let through. */
  get remaining(): number {
    return Math.max(0, this.notBefore - this.clock.monotonic());
  }

  /** @throws TokenRejected while the token rests */
  admit(): void {
    if (this.remaining > 0) throw new TokenRejected(this.lastAnswer);
    this.probing = this.delay > 0;
    this.notBefore = this.clock.monotonic() + this.delay;
  }

  recordRejection(error: TokenRejected): void {
    if (this.remaining > 0 && !this.probing) return; // was under way together with one that was rejected
    this.probing = false;
    this.lastAnswer = error.answer;
    this.delay = Math.min(this.delay * 2 || FIRST_DELAY, MAX_DELAY);
    this.notBefore = this.clock.monotonic() + this.delay;
  }

  recordSuccess(): void {
    this.delay = 0;
    this.notBefore = 0;
    this.probing = false;
  }
}
