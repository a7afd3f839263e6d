import type { Payload, SeenCall } from '../protocol';

/**
 * Milliseconds between two calls that still count as simultaneous: the hub delays time patterns by a random
 * time.
 */
const TOLERANCE = 1_000;

/** The difference between the calls of one automation, action and target. */
export interface CallDifference {
  /** Entity id of the automation or script; null if it is unknown. */
  readonly by: string | null;
  readonly action: string;
  readonly entities: readonly string[];
  /** Number of calls with the definitions of the running hub. */
  readonly before: number;
  /** Number of calls with the definitions in the files. */
  readonly after: number;
  /** Number of calls that both sides make, but at different times. */
  readonly anotherTime: number;
  /** Number of calls that both sides make at the same time, but with different data. */
  readonly otherData: number;
}

/** A call that only one side makes. */
export interface ChangedCall {
  readonly side: 'before' | 'after';
  /** Local time with an offset. */
  readonly at: string;
  readonly by: string | null;
  readonly action: string;
  readonly entities: readonly string[];
  readonly data: Payload;
}

interface Comparison {
  /** Sorted, with the largest difference first. */
  readonly differences: readonly CallDifference[];
  /** The calls that only one side makes, in chronological order. */
  readonly changed: readonly ChangedCall[];
}

interface Timed {
  readonly call: SeenCall;
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly data: string;
}

/** Compares the calls of two simulations of one history. */
export function compareCalls(before: readonly SeenCall[], after: readonly SeenCall[]): Comparison {
  const [groupsBefore, groupsAfter] = [grouped(before), grouped(after)];
  const keys = [...new Set([...groupsBefore.keys(), ...groupsAfter.keys()])].sort();
  const differences: CallDifference[] = [];
  // Collected as lists and flattened later: `push(...calls)` would fail beyond about 100,000 arguments, and
  // an automation may make more calls.
  const changed: (readonly { readonly time: number; readonly call: ChangedCall }[])[] = [];
  for (const key of keys) {
    const [one = [], other = []] = [groupsBefore.get(key), groupsAfter.get(key)];
    const left = withoutPairs(one, other, ({ data }) => data);
    if (left.before.length + left.after.length === 0) continue;
    const rest = withoutPairs(left.before, left.after, () => '');
    const { by = null, action, entities } = [...one, ...other][0]!.call;
    differences.push({
      ...{ by, action, entities },
      before: one.length,
      after: other.length,
      anotherTime: Math.min(rest.before.length, rest.after.length),
      otherData: left.before.length - rest.before.length,
    });
    for (const side of ['before', 'after'] as const)
      changed.push(left[side].map(({ call, time }) => ({ time, call: changedCall(side, call) })));
  }
  return {
    differences: differences.sort((a, b) => weightOf(b) - weightOf(a)),
    changed: changed
      .flat()
      .sort((a, b) => a.time - b.time)
      .map(({ call }) => call),
  };
}

const changedCall = (
  side: ChangedCall['side'],
  { at, by = null, action, entities, data }: SeenCall,
): ChangedCall => ({
  ...{ side, at, by, action, entities, data },
});

const weightOf = ({ before, after, anotherTime, otherData }: CallDifference): number =>
  Math.abs(after - before) + anotherTime + otherData;

/** Groups calls by automation, action and target; each group is in chronological order. */
function grouped(calls: readonly SeenCall[]): ReadonlyMap<string, Timed[]> {
  return groupedBy(
    calls
      .map((call) => ({ call, time: Date.parse(call.at), data: JSON.stringify(inOrder(call.data)) }))
      .sort((a, b) => a.time - b.time),
    ({ call: { by, action, entities } }) => JSON.stringify([by ?? null, action, entities]),
  );
}

/** Sorts the keys, so that equal data has equal JSON. */
const inOrder = (data: Payload): readonly unknown[] =>
  Object.entries(data).sort(([a], [b]) => (a < b ? -1 : 1));

function groupedBy<T>(items: readonly T[], groupOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = groupOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}

interface Left {
  readonly before: readonly Timed[];
  readonly after: readonly Timed[];
}

/** Removes pairs of simultaneous calls of one group, one from each side. */
function withoutPairs(
  before: readonly Timed[],
  after: readonly Timed[],
  groupOf: (call: Timed) => string,
): Left {
  const [groupsBefore, groupsAfter] = [groupedBy(before, groupOf), groupedBy(after, groupOf)];
  const left: Record<ChangedCall['side'], (readonly Timed[])[]> = { before: [], after: [] };
  for (const key of new Set([...groupsBefore.keys(), ...groupsAfter.keys()])) {
    const [one, other] = [groupsBefore.get(key) ?? [], groupsAfter.get(key) ?? []];
    const alone: { before: Timed[]; after: Timed[] } = { before: [], after: [] };
    let [i, j] = [0, 0];
    while (i < one.length && j < other.length) {
      const later = other[j]!.time - one[i]!.time;
      if (Math.abs(later) <= TOLERANCE) [i, j] = [i + 1, j + 1];
      else if (later > 0) alone.before.push(one[i++]!);
      else alone.after.push(other[j++]!);
    }
    left.before.push(alone.before, one.slice(i));
    left.after.push(alone.after, other.slice(j));
  }
  return { before: left.before.flat().sort(byTime), after: left.after.flat().sort(byTime) };
}

const byTime = (a: Timed, b: Timed): number => a.time - b.time;
