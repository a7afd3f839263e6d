import type { Clock } from '../../../base/clock';
import type { HubClient } from '../../../client/hub-client';
import { hubAge } from '../../../client/setup/hub-age';
import { hubStartId } from '../../../client/setup/hub-start-id';

/** Milliseconds between two looks at config entries that are still being set up. */
const SETUP_POLL = 10_000;

/** One start of the hub. */
interface Start {
  readonly id: string;
  /** When it had started, by the monotonic clock. */
  readonly runsSince: number;
}

/** Whether the hub has had the time to set up its integrations. Until then its lists are not complete. */
export class Settling {
  /** By the connection that it was read on. */
  private reading: { readonly epoch: number; readonly start: Promise<Start> } | undefined;
  /** The start after which all was set up. */
  private settled: string | undefined;

  /** @param time milliseconds that a hub has */
  constructor(
    private readonly client: HubClient,
    private readonly clock: Clock,
    private readonly time: number,
  ) {}

  /** Milliseconds until it may be asked again; 0: it has settled. @throws HubError */
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

  /** The first one is as old as the hub says. A later one has begun while the operator was looking. */
  private async readStart(former: Promise<Start> | undefined): Promise<Start> {
    const { connection, rest } = this.client;
    const before = await former?.catch(() => undefined);
    const id = await hubStartId(connection);
    if (before?.id === id) return before;
    const age = before ? 0 : await hubAge(rest);
    return { id, runsSince: this.clock.monotonic() - age };
  }
}
