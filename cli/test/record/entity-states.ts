import type { PackedStates, Payload } from '../protocol';

interface State {
  readonly state: string | null;
  readonly attributes: Payload;
  /** Time in ISO 8601. */
  readonly last_updated: string;
}

/** Distinct values, each with a number. */
class Values<T> {
  readonly all: T[] = [];
  private readonly numbers = new Map<string, number>();

  numberOf(key: string, value: T): number {
    const known = this.numbers.get(key);
    if (known !== undefined) return known;
    this.numbers.set(key, this.all.length);
    return this.all.push(value) - 1;
  }
}

/** A time in milliseconds, and the numbers of a state and of its attributes. */
type Row = readonly [time: number, state: number, attributes: number];

/** The states of one entity, packed as they arrive: a week of a home has hundreds of thousands. */
export class EntityStates {
  /** Total length of the answers. */
  bytes = 0;
  private readonly texts = new Values<string>();
  private readonly sets = new Values<Payload>();
  /** The states by day, the newest day first. */
  private readonly days: (readonly Row[])[] = [];

  /**
   * Adds the states of a day, which must be earlier than those added before. @returns the bytes of the answer
   */
  add(states: readonly State[]): number {
    const bytes = Buffer.byteLength(JSON.stringify(states));
    this.bytes += bytes;
    const rows = states.flatMap(({ state, attributes, last_updated: updated }): Row[] =>
      // An empty state means that the entity was removed.
      state === null || state === ''
        ? []
        : [
            [
              Date.parse(updated),
              this.texts.numberOf(state, state),
              this.sets.numberOf(JSON.stringify(attributes), attributes),
            ],
          ],
    );
    this.days.push(rows.sort(([a], [b]) => a - b));
    return bytes;
  }

  get isEmpty(): boolean {
    return this.days.every((rows) => rows.length === 0);
  }

  /** Time of the oldest state, in milliseconds since 1970. */
  get first(): number {
    return Math.min(...this.days.map(([first]) => first?.[0] ?? Infinity));
  }

  /**
   * The packed states. @param from milliseconds since 1970; the last state before this time becomes the one
   * at the beginning
   */
  packed(from: number): PackedStates {
    const rows = this.inOrder();
    const begin = Math.max(
      0,
      rows.findLastIndex(([time]) => time <= from),
    );
    const played = rows.slice(begin).map(([time, ...numbers]) => [Math.max(time, from), ...numbers] as const);
    return {
      after: played.map(([time], index) => time - (played[index - 1]?.[0] ?? from)),
      states: played.map(([, state]) => state),
      attributes: played.map(([, , attributes]) => attributes),
      texts: this.texts.all,
      sets: this.sets.all,
    };
  }

  /**
   * All rows in chronological order. Each day begins with the last state of the day before, which is skipped.
   */
  private inOrder(): readonly Row[] {
    const rows: Row[] = [];
    for (const day of this.days.toReversed())
      for (const row of day) {
        const last = rows.at(-1);
        if (!last || row[0] > last[0] || (row[0] === last[0] && row[1] !== last[1])) rows.push(row);
      }
    return rows;
  }
}
