import { BoundedLog } from '../../base/bounded-log';
import type { Clock } from '../../base/clock';
import type { Logger } from '../../base/log';
import { Rate } from '../../base/timer';
import type { HubError } from './errors';

/**
 * Messages of an unexpected shape that are tolerated within an hour, over all connections to the hub. More
 * end the connection.
 */
const MOST_UNUSABLE = 1_000;
const UNUSABLE_PERIOD = 60 * 60_000;

/** Counts and logs the messages of a hub that have an unexpected shape. */
export class UnusableMessages {
  private readonly rate: Rate;
  private readonly log: BoundedLog;

  constructor(options: { readonly clock: Clock; readonly log: Logger }) {
    this.rate = new Rate(options.clock, UNUSABLE_PERIOD);
    this.log = new BoundedLog(options, 'messages of hub are not used');
  }

  /** @throws HubError if there are too many, which ends the connection */
  count(error: HubError): void {
    if (this.rate.add() > MOST_UNUSABLE) throw error;
    this.log.add({ error });
  }
}
