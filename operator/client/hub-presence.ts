import type { HubConnection } from './connection/connection';
import { HubError } from './connection/errors';

/**
 * Whether the hub serves requests as it should: it has started completely, and was not restarted meanwhile. While it stops
 * or starts, it rejects requests that it accepts otherwise.
 */
export class HubPresence {
  private lost = 0;
  /** Whether the hub of the present connection has started; undefined: it was not asked, or had not. */
  private started: Promise<boolean> | undefined;

  constructor(private readonly connection: Pick<HubConnection, 'command' | 'onLost'>) {
    connection.onLost(() => {
      this.lost += 1;
      this.started = undefined;
    });
  }

  /** Names the present connection. A hub cannot start again without the loss of it. */
  get epoch(): number {
    return this.lost;
  }

  /** Whether the hub has started completely. It is asked once per connection. @throws HubError it does not answer */
  async isRunning(): Promise<boolean> {
    const asked = (this.started ??= this.ask());
    const forget = () => {
      if (this.started === asked) this.started = undefined;
    };
    const isRunning = await asked.catch((error: unknown) => {
      forget();
      throw error;
    });
    if (!isRunning) forget();
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
