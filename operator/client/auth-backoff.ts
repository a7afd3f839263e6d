import type { Clock } from '../clock';
import { TokenRejected } from './errors';

const FIRST_REST_MS = 5 * 60_000;
const LONGEST_REST_MS = 6 * 3_600_000;

/**
 * Keeps a rejected token from being sent again and again: every 401 feeds the hub's ban, and hundreds of resources
 * share the one token. After a rejection all uses fail at once; one is let through after 5 minutes, the next after
 * 10, and so on up to six hours (a token comes back to life only when a backup is restored). A new token has a new
 * gate.
 */
export class TokenGate {
  readonly #clock: Clock;
  #restMs = 0;
  #closedUntil = 0;
  /** One use has been let through and is not answered yet. */
  #probing = false;
  #rejection = '';

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Milliseconds until the next use is let through. */
  get opensInMs(): number {
    return Math.max(0, this.#closedUntil - this.#clock.monotonic());
  }

  /** @throws TokenRejected while the token rests */
  pass(): void {
    if (this.opensInMs > 0) throw new TokenRejected(this.#rejection);
    this.#probing = this.#restMs > 0;
    this.#closedUntil = this.#clock.monotonic() + this.#restMs;
  }

  rejected(error: TokenRejected): void {
    if (this.opensInMs > 0 && !this.#probing) return; // was under way together with one that was rejected
    this.#probing = false;
    this.#rejection = error.message;
    this.#restMs = Math.min(this.#restMs * 2 || FIRST_REST_MS, LONGEST_REST_MS);
    this.#closedUntil = this.#clock.monotonic() + this.#restMs;
  }

  accepted(): void {
    this.#restMs = 0;
    this.#closedUntil = 0;
    this.#probing = false;
  }
}
