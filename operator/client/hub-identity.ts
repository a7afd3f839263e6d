import type { Clock } from '../clock';
import { HubUnreachable } from './errors';

/** A proof is good for so long, unless a connection fails before. */
const LIFETIME = 10_000;

/**
 * That a hub answers at an address which a person wrote and which may be anybody's tomorrow: before a token goes
 * there, the hub has just been seen.
 */
export class HubIdentityCheck {
  private goodUntil = -Infinity;
  private asking: Promise<void> | undefined;

  /** @param ask throws when no hub answers */
  constructor(
    private readonly ask: () => Promise<void>,
    private readonly clock: Clock,
  ) {}

  /** Resolves when a hub answered a moment ago; throws what `ask` throws. */
  async verify(): Promise<void> {
    if (this.clock.monotonic() < this.goodUntil) return;
    await (this.asking ??= this.askNow().finally(() => (this.asking = undefined)));
  }

  /** Whoever answers after a failed connection may be somebody else. */
  invalidateOn(error: unknown): void {
    if (error instanceof HubUnreachable) this.goodUntil = -Infinity;
  }

  private async askNow(): Promise<void> {
    await this.ask();
    this.goodUntil = this.clock.monotonic() + LIFETIME;
  }
}
