import { type HubLists, KeptLists } from '../../../operator/client/connection/kept-lists';
import { ManualClock } from '../manual-clock';

/** Returns the lists of one hub, without other hubs. */
export const listsOf = (kept = new KeptLists(Infinity), clock = new ManualClock()): HubLists =>
  kept.ofHub(clock, { onDropped: () => undefined, onReadmitted: () => undefined });
