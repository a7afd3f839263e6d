import { AnswerTooLarge, HubFailed } from '../../../operator/client/connection/errors';
import type { RestClient } from '../../../operator/client/connection/rest';
import {
  anyObject,
  list,
  nullable,
  object,
  type Of,
  optional,
  type Shape,
  text,
  time,
} from '../../../operator/client/connection/shape';
import { CommandError } from '../../command-error';
import type { History } from '../protocol';
import { spanOf } from '../report/times';
import { EntityStates } from './entity-states';

/** Limit in bytes for all answers together. */
export const MOST_BYTES = 50 * 1_000 * 1_000;

const DAY = 86_400_000;
/** Milliseconds. A shorter part of a day is not split further, even if it is too large to be read. */
const SHORTEST = 60_000;
/** Milliseconds. Reading a database on a memory card takes a while. */
const TIMEOUT = 60_000;

/**
 * Characters of a state. The hub does not store longer states, and the simulated hub does not accept them.
 */
const LONGEST_STATE = 255;
const stateText: Shape<string> = (value) =>
  text(value) ??
  // An emoji is one character but two UTF-16 code units.
  ((value as string).length > LONGEST_STATE && [...(value as string)].length > LONGEST_STATE
    ? { at: '', expected: `a state of at most ${LONGEST_STATE} characters`, found: 'a longer one' }
    : undefined);

const states = list(
  list(
    object({
      entity_id: optional(text),
      state: nullable(stateText),
      attributes: anyObject,
      last_updated: time,
    }),
  ),
);
type State = Of<typeof states>[number][number];

interface HistoryRequest {
  readonly entities: readonly string[];
  /** End of the history, in milliseconds since 1970. */
  readonly until: number;
  /** Length of the history in milliseconds. */
  readonly period: number;
  readonly signal: AbortSignal;
  readonly progress: (text: string) => void;
}

/** The part of the requested period that the recorder has. */
interface RecordedHistory {
  readonly history: History;
  /** Number of states after the first one of each entity. */
  readonly changes: number;
  /** Entities without a recorded state. */
  readonly without: readonly string[];
}

interface Window {
  readonly from: number;
  readonly to: number;
}

/**
 * Reads the states of entities from the history of a hub, day by day from the newest, and entity by entity.
 *
 * @throws CommandError the history is larger than {@link MOST_BYTES}, or empty
 * @throws HubError
 */
export async function readHistory(rest: RestClient, request: HistoryRequest): Promise<RecordedHistory> {
  const { entities, until, period, signal, progress } = request;
  const read = new Map(entities.map((entity) => [entity, new EntityStates()]));
  const days = daysOf(until - period, until);
  let bytes = 0;
  for (const [index, day] of days.entries()) {
    let found = 0;
    for (const [number, [entity, kept]] of [...read].entries()) {
      signal.throwIfAborted();
      progress(
        `Reading the history: day ${index + 1} of ${days.length}, entity ${number + 1} of ${entities.length}, ${megabytes(bytes)}`,
      );
      const rows = await statesOf(rest, entity, day, signal);
      found += rows.length;
      bytes += kept.add(rows);
      if (bytes > MOST_BYTES)
        throw new CommandError(tooMuch(period, read, bytes * (days.length / (index + 1))));
    }
    if (found === 0) break; // older states are purged
  }
  return recorded(read, until - period, until);
}

/** The days of a period, the newest first. The oldest one may be shorter. */
function daysOf(from: number, until: number): readonly Window[] {
  const count = Math.ceil((until - from) / DAY);
  return Array.from({ length: count }, (_, index) => ({
    from: Math.max(from, until - (index + 1) * DAY),
    to: until - index * DAY,
  }));
}

/** The states of an entity in chronological order, beginning with the one at the start of the window. */
async function statesOf(
  rest: RestClient,
  entity: string,
  { from, to }: Window,
  signal: AbortSignal,
): Promise<readonly State[]> {
  const [begin, end] = [from, to].map((each) => encodeURIComponent(new Date(each).toISOString()));
  const path = `/api/history/period/${begin}?filter_entity_id=${encodeURIComponent(entity)}&end_time=${end}&significant_changes_only=0`;
  try {
    return statesIn(await rest.get(path, { answer: states, timeout: TIMEOUT, signal }), entity, to);
  } catch (error) {
    if (!(error instanceof AnswerTooLarge) || to - from < SHORTEST) throw error;
    const middle = Math.floor((from + to) / 2);
    const first = await statesOf(rest, entity, { from, to: middle }, signal);
    return [...first, ...(await statesOf(rest, entity, { from: middle, to }, signal))];
  }
}

/**
 * The states in an answer up to a time, in the order of the answer.
 *
 * @throws HubFailed the answer is about another entity
 */
function statesIn(answer: Of<typeof states>, entity: string, to: number): readonly State[] {
  const all = answer.flat();
  if (all.some(({ entity_id: id }) => id !== undefined && id !== entity))
    throw new HubFailed(`the hub was asked for the history of ${entity}, and answered with another entity`);
  // With a state in the future, the clock of the simulation would run beyond the end of the history.
  return all.filter(({ last_updated: updated }) => Date.parse(updated) <= to);
}

const megabytes = (bytes: number): string => `${(bytes / 1_000_000).toFixed(1)} MB`;

/** @param expected estimated bytes of the whole period, from the days that have been read */
function tooMuch(period: number, read: ReadonlyMap<string, EntityStates>, expected: number): string {
  const total = [...read.values()].reduce((sum, { bytes }) => sum + bytes, 0);
  const largest = [...read].sort(([, a], [, b]) => b.bytes - a.bytes);
  const left: string[] = [];
  let kept = total;
  for (const [entity, { bytes }] of largest) {
    if ((kept / total) * expected <= MOST_BYTES) break;
    left.push(entity);
    kept -= bytes;
  }
  return (
    `the history of ${spanOf(period / 1_000)} is about ${megabytes(expected)}, and at most ${megabytes(MOST_BYTES)} are read: ` +
    `leave out the entities with the most states, with --leave-out ${left.join(',')} (${megabytes((1 - kept / total) * expected)}), or ask for a shorter time`
  );
}

/** @throws CommandError there are no states */
function recorded(read: ReadonlyMap<string, EntityStates>, from: number, until: number): RecordedHistory {
  const found = [...read].filter(([, { isEmpty }]) => !isEmpty);
  if (read.size > 0 && found.length === 0)
    throw new CommandError(
      `the recorder of the hub has no state of ${[...read.keys()].slice(0, 5).join(', ')}: see whether recorder in its configuration excludes them`,
    );
  const begin = Math.max(from, Math.min(until, ...found.map(([, { first }]) => first)));
  const start = read.size === 0 ? from : begin;
  const packed = found.map(([entity, kept]) => [entity, kept.packed(start)] as const);
  return {
    history: { from: start / 1_000, to: until / 1_000, entities: Object.fromEntries(packed) },
    changes: packed.reduce((sum, [, { after }]) => sum + after.length - (after[0] === 0 ? 1 : 0), 0),
    without: [...read].filter(([, { isEmpty }]) => isEmpty).map(([entity]) => entity),
  };
}
