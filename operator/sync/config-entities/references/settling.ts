import type { Clock } from '../../../base/clock';
import type { HubClient } from '../../../client/hub-client';
import { hubAge } from '../../../client/setup/hub-age';
import { hubStartId } from '../../../client/setup/hub-start-id';

/** Milliseconds between two checks whether config entries are still being set up. */
const SETUP_POLL = 10_000;

/** One start of the hub. */
interface Start {
  readonly id: string;
  /** The time at which the hub had started, by the monotonic clock. */
  readonly runsSince: number;
}

/** Determines when a started hub has set up its integrations. Until then its lists are incomplete. */
export class Settling {
  /** The hub's present start, with the connection over which it was read. */
  private reading: { readonly epoch: number; readonly start: Promise<Start> } | undefined;
  /** Id of the start after which all config entries were set up. */
  private settled: string | undefined;

  /** @param time milliseconds after a start in which a hub may set up its integrations */
  constructor(
    private readonly client: HubClient,
    private readonly clock: Clock,
    private readonly time: number,
  ) {}

  /**
   * Milliseconds until the next check. 0 when the integrations are set up.
   *
   * @throws HubError
   */
  async left(): Promise<number> {
    const { id, runsSince } = await this.start();
    if (this.settled === id) return 0;
    const left = runsSince + this.time - this.clock.monotonic();
    if (left > 0) return left;
    for (const { state } of (await this.client.configEntries.all()).values())
      if (state === 'setup_in_progress') return SETUP_POLL;
    this.settled = id;
    return 0;
  }

  private start(): Promise<Start> {
    const { epoch } = this.client.presence;
    if (this.reading?.epoch !== epoch) {
      const start = this.readStart(this.reading?.start);
      this.reading = { epoch, start };
      start.catch(() => {
        if (this.reading?.start === start) this.reading = undefined;
      });
    }
    return this.reading.start;
  }

  /**
   * Reads the present start. The first start that this process sees is as old as the hub says. A later one
   * has begun only now.
   */
  private async readStart(former: Promise<Start> | undefined): Promise<Start> {
    const { connection, rest } = this.client;
    const before = await former?.catch(() => undefined);
    const id = await hubStartId(connection);
    if (before?.id === id) return before;
    const age = before ? 0 : await hubAge(rest);
    return { id, runsSince: this.clock.monotonic() - age };
  }
}
