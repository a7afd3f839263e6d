import type { ConfigEntry, ConfigSubentry } from '../../../client/connection/flow-step';
import { FLOW_LIMIT, FLOW_REQUEST_LIMIT } from '../../../base/limits';
import type { HubIntegrationSpec, PendingFlow } from '../../../kinds/integration';

// Finds objects that may have been created by a flow whose end was not observed. The hub does not mark them
// with the flow. A time proves nothing, since users create entries at any time and clocks differ: it only
// excludes objects that were created after the longest possible flow.

/** Entries that a flow may have created. */
export interface Candidates {
  /** The entry that the hub links to the flow. */
  readonly made?: ConfigEntry | undefined;
  /** Entries that either the flow or a user created. */
  readonly unclear: readonly ConfigEntry[];
  /** Entries that were created after the longest possible flow. */
  readonly later: readonly ConfigEntry[];
}

export const NO_CANDIDATES: Candidates = { unclear: [], later: [] };

/** Seconds within which a flow creates an object. */
const FLOW_WINDOW = (FLOW_LIMIT + FLOW_REQUEST_LIMIT) / 1_000;

/**
 * Seconds by which two measurements of one clock may differ: times in responses of the hub are whole seconds,
 * and a response may take long.
 */
const CLOCK_ERROR = 5;

/**
 * Reports whether an object was created after the longest possible duration of the flow. This is only known
 * while the difference between the clocks of hub and operator is the same as at the start of the flow: a hub
 * without a battery for its clock sets it some time after its start.
 *
 * @param at creation of the object, in seconds since 1970 by the hub's clock; undefined for a hub before
 * 2024.8, which does not return it
 * @param offset seconds by which the hub's clock is ahead now
 */
export function isAfterFlow(
  { startedAt = '', clockOffset }: PendingFlow,
  at: number | undefined,
  offset: number | undefined,
): boolean {
  if (at === undefined || clockOffset === undefined || offset === undefined) return false;
  const isSameClock = Math.abs(offset - clockOffset) <= CLOCK_ERROR;
  const sinceStart = at - clockOffset - Date.parse(startedAt) / 1_000;
  return isSameClock && sinceStart > FLOW_WINDOW + CLOCK_ERROR;
}

/**
 * Reports whether an entry looks as if its flow was interrupted. A flow creates its entry, waits until that
 * is set up, and ends. If the connection closes before, the hub cancels the set-up.
 */
const isUnfinished = ({ state, reason, disabled_by: disabledBy }: ConfigEntry): boolean =>
  disabledBy === null &&
  (['not_loaded', 'setup_in_progress'].includes(state) || (state === 'setup_error' && reason === null));

/**
 * The entries that an interrupted flow may have created: entries that the domain did not have before, with
 * the source `user`. While the flow is open, it can only have created an entry whose set-up has not ended,
 * and every other entry was created by a user.
 *
 * @param free entries of the domain that no resource owns
 * @param title title by which an entry of the resource is recognized
 */
export function candidatesOf(
  pending: PendingFlow,
  free: readonly ConfigEntry[],
  {
    wasOpen,
    offset,
    title,
  }: {
    readonly wasOpen: boolean;
    readonly offset: number | undefined;
    readonly title: string | undefined;
  },
): Candidates {
  const { entryIDs = [] } = pending;
  const added = free.filter((entry) => entry.source === 'user' && !entryIDs.includes(entry.entry_id));
  if (wasOpen) {
    const unfinished = added.filter(isUnfinished);
    const [made, ...others] = unfinished;
    return others.length === 0 ? { ...NO_CANDIDATES, made } : { ...NO_CANDIDATES, unclear: unfinished };
  }
  const later = added.filter(({ created_at: at }) => isAfterFlow(pending, at, offset));
  const within = added.filter((entry) => !later.includes(entry));
  const titled = within.filter((entry) => entry.title === title);
  return { unclear: titled.length > 0 ? titled : within, later };
}

/** The entry that may be adopted among those that the flow or a user created. */
export function adoptableOf(
  unclear: readonly ConfigEntry[],
  { adopt, title }: Pick<HubIntegrationSpec, 'adopt' | 'title'>,
): ConfigEntry | undefined {
  const [only, ...others] = unclear;
  const isAllowed =
    adopt !== 'Never' && others.length === 0 && (title === undefined || only?.title === title);
  return isAllowed ? only : undefined;
}

/**
 * The subentries that an interrupted flow may have created. The hub ends a flow immediately after it creates
 * a subentry.
 */
export function candidateSubentries(
  pending: PendingFlow,
  present: readonly ConfigSubentry[],
  offset: number | undefined,
): readonly ConfigSubentry[] {
  const { type, subentryIDs = [] } = pending.subentry ?? {};
  return present.filter(
    ({ subentry_id: id, subentry_type: ofType }) =>
      ofType === type && !subentryIDs.includes(id) && !isAfterFlow(pending, timeOf(id), offset),
  );
}

const ULID = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/**
 * The time at the beginning of a subentry's id (a ULID), in seconds since 1970.
 *
 * @returns undefined for another kind of id
 */
function timeOf(id: string): number | undefined {
  const digits = [...id.slice(0, 10)].map((digit) => ULID.indexOf(digit));
  if (digits.length < 10 || digits.includes(-1)) return undefined;
  return digits.reduce((time, digit) => time * ULID.length + digit, 0) / 1_000;
}
