import type { Clock } from '../base/clock';
import type { HubConnection } from './connection/connection';
import { HubError } from './connection/errors';

/** Milliseconds for which a hub that has not started is not asked again: hundreds of resources may wait for one that stays so. */
const NOT_RUNNING_PAUSE = 2_000;

/**
 * Whether the hub serves requests as it should: it has started completely, and was not restarted meanwhile. While it stops
 * or starts, it rejects requests that it accepts otherwise.
 */
export class HubPresence {
  private lost = 0;
  /** Whether the hub of the present connection has started; undefined: it was not asked, or had not. */
  private started: Promise<boolean> | undefined;
  /** A hub that had not started is asked again then, on the monotonic clock. */
  private askAgainAt = -Infinity;

  constructor(
    private readonly connection: Pick<HubConnection, 'command' | 'onLost'>,
    private readonly clock: Pick<Clock, 'monotonic'>,
  ) {
    connection.onLost(() => {
      this.lost += 1;
      this.started = undefined;
      this.askAgainAt = -Infinity;
    });
  }

  /** Names the present connection. A hub cannot start again without the loss of it. */
  get epoch(): number {
    return this.lost;
  }

  /** Whether the hub has started completely. It is asked until it has, then once per connection. @throws HubError it does not answer */
  async isRunning(): Promise<boolean> {
    if (this.clock.monotonic() < this.askAgainAt) return false;
    const asked = (this.started ??= this.ask());
    const forget = () => {
      if (this.started === asked) this.started = undefined;
    };
    const isRunning = await asked.catch((error: unknown) => {
      forget();
      throw error;
    });
    if (!isRunning && this.started === asked) {
      forget();
      this.askAgainAt = this.clock.monotonic() + NOT_RUNNING_PAUSE;
    }
    return isRunning;
  }

  /** Whether the hub runs, and has run since that epoch. It is asked: a lost connection may not be noticed yet. */
  async hasRunSince(epoch: number): Promise<boolean> {
    if (epoch !== this.lost) return false;
    try {
      return (await this.ask()) && epoch === this.lost;
    } catch (error) {
      if (!(error instanceof HubError)) throw error;
      return false;
    }
  }

  /** In recovery mode and in safe mode a hub has loaded only a part of its integrations. */
  private async ask(): Promise<boolean> {
    const { state, recovery_mode: recovery, safe_mode: safe } = await this.connection.command('get_config');
    return state === 'RUNNING' && !recovery && !safe;
  }
}
