import type { ConfigEntry, ConfigSubentry } from '../../../client/connection/flow-step';
import { FLOW_LIMIT, FLOW_REQUEST_LIMIT } from '../../../base/limits';
import type { HubIntegrationSpec, PendingFlow } from '../../../kinds/integration';

// Objects that a flow may have made whose end was not observed. The hub puts no mark of the flow on them. A time proves
// nothing: people make entries at any time, and clocks differ. A time only excludes objects that came after the longest flow.

/** Entries that a flow may have made. */
export interface Candidates {
  /** The hub ties it to the flow. */
  readonly made?: ConfigEntry | undefined;
  /** The flow or a person made them. */
  readonly unclear: readonly ConfigEntry[];
  /** Made after the longest flow. */
  readonly later: readonly ConfigEntry[];
}

export const NO_CANDIDATES: Candidates = { unclear: [], later: [] };

/** Seconds within which a flow makes something. */
const FLOW_WINDOW = (FLOW_LIMIT + FLOW_REQUEST_LIMIT) / 1_000;

/** Seconds by which two measurements of one clock may differ: an answer of the hub has whole seconds, and may take long. */
const CLOCK_ERROR = 5;

/**
 * Whether something was made after the longest flow that was started then. Known only while the hub's clock is ahead of the
 * operator's by as much as at the start of the flow: a hub without a battery for its clock sets it some time after its start.
 *
 * @param at seconds since 1970 by the hub's clock. A hub before 2024.8 does not show it
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

/** A flow makes its entry, waits until that is set up, and ends. The hub cancels the set-up when the connection closes. */
const isUnfinished = ({ state, reason, disabled_by: disabledBy }: ConfigEntry): boolean =>
  disabledBy === null &&
  (['not_loaded', 'setup_in_progress'].includes(state) || (state === 'setup_error' && reason === null));

/**
 * The entries that an interrupted flow may have made: of a user's flow, which the domain did not have before. While the flow
 * is open, only one whose set-up has not ended can be of it, and any other one is a person's.
 *
 * @param free entries of the domain that no resource owns
 * @param title by which an entry of the resource is recognized
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

/** The entry that may be adopted, of those that the flow or a person made. */
export function adoptableOf(
  unclear: readonly ConfigEntry[],
  { adopt, title }: Pick<HubIntegrationSpec, 'adopt' | 'title'>,
): ConfigEntry | undefined {
  const [only, ...others] = unclear;
  const isAllowed =
    adopt !== 'Never' && others.length === 0 && (title === undefined || only?.title === title);
  return isAllowed ? only : undefined;
}

/** The subentries that an interrupted flow may have made. The hub makes one and ends the flow at once. */
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

/** The time with which the id of a subentry begins, in seconds since 1970; undefined: it is another kind of id. */
function timeOf(id: string): number | undefined {
  const digits = [...id.slice(0, 10)].map((digit) => ULID.indexOf(digit));
  if (digits.length < 10 || digits.includes(-1)) return undefined;
  return digits.reduce((time, digit) => time * ULID.length + digit, 0) / 1_000;
}
