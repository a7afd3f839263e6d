import { type HubLists, KeptLists } from '../../../operator/client/connection/kept-lists';
import { ManualClock } from '../manual-clock';

/** The lists of one hub, by themselves. */
export const listsOf = (kept = new KeptLists(Infinity), clock = new ManualClock()): HubLists =>
  kept.ofHub(clock, { onDropped: () => undefined, onReadmitted: () => undefined });
