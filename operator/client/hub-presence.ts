import type { Clock } from '../base/clock';
import type { HubConnection } from './connection/connection';
import { HubError } from './connection/errors';

/**
 * Milliseconds for which the answer that a hub has not started is reused: hundreds of resources may wait for
 * a hub that remains in that state.
 */
const NOT_RUNNING_PAUSE = 2_000;

/**
 * Whether the hub is fully started, and was not restarted in the meantime. While it stops or starts, it
 * rejects requests that it accepts otherwise.
 */
export class HubPresence {
  private lost = 0;
  /**
   * Whether the hub has started, for the current connection; undefined if it was not asked, or had not
   * started.
   */
  private started: Promise<boolean> | undefined;
  /** Time at which a hub that had not started is asked again, by the monotonic clock. */
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

  /** Identifies the current connection. A hub cannot restart without losing it. */
  get epoch(): number {
    return this.lost;
  }

  /**
   * Whether the hub has started completely. The hub is asked until it has, then once per connection. @throws
   * HubError the hub does not answer
   */
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

  /**
   * Whether the hub is running, and has been since that epoch. The hub is asked, since the loss of the
   * connection may not have been noticed yet.
   */
  async hasRunSince(epoch: number): Promise<boolean> {
    if (epoch !== this.lost) return false;
    try {
      return (await this.ask()) && epoch === this.lost;
    } catch (error) {
      if (!(error instanceof HubError)) throw error;
      return false;
    }
  }

  /**
   * Asks the hub. In recovery mode and in safe mode it has loaded only some of its integrations, so it does
   * not count as running.
   */
  private async ask(): Promise<boolean> {
    const { state, recovery_mode: recovery, safe_mode: safe } = await this.connection.command('get_config');
    return state === 'RUNNING' && !recovery && !safe;
  }
}
