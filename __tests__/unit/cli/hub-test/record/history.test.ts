import { parsePeriod } from '../../../../../cli/test/record/period';
import { MOST_BYTES, readHistory } from '../../../../../cli/test/record/history';
import { AnswerTooLarge, HubUnreachable } from '../../../../../operator/client/connection/errors';
import type { RestClient } from '../../../../../operator/client/connection/rest';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const UNTIL = Date.UTC(2026, 10, 28, 3);

interface Row {
  readonly state: string | null;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly last_updated: string;
}

const row = (hoursBefore: number, state: string | null, attributes = {}): Row => ({
  state,
  attributes,
  last_updated: new Date(UNTIL - hoursBefore * HOUR).toISOString(),
});

/**
 * A hub with these states, which answers like the integration `history`: it includes the last state before
 * the period.
 */
class Recorder {
  readonly asked: string[] = [];
  /** Length of the longest period that the hub answers, in milliseconds. */
  longest = Infinity;
  /** Milliseconds since 1970; older states are purged. */
  purgedBefore = -Infinity;

  constructor(private readonly states: Readonly<Record<string, readonly Row[]>>) {}

  get = (path: string): Promise<unknown> => {
    this.asked.push(path);
    const url = new URL(path, 'http://hub');
    const from = Date.parse(decodeURIComponent(url.pathname.split('/').at(-1)!));
    const to = Date.parse(url.searchParams.get('end_time')!);
    if (url.searchParams.get('significant_changes_only') !== '0') throw new Error('attributes are left out');
    if (to - from > this.longest) throw new AnswerTooLarge('an answer is not read');
    const known = (this.states[url.searchParams.get('filter_entity_id')!] ?? []).filter(
      ({ last_updated: at }) => Date.parse(at) >= this.purgedBefore,
    );
    const before = known.findLast(({ last_updated: at }) => Date.parse(at) <= from);
    const within = known.filter(({ last_updated: at }) => Date.parse(at) > from && Date.parse(at) < to);
    return Promise.resolve([[...(before ? [before] : []), ...within]]);
  };
}

const shown: string[] = [];
beforeEach(() => void (shown.length = 0));

const read = (recorder: Recorder, entities: readonly string[], period = 7 * DAY, signal?: AbortSignal) =>
  readHistory(recorder as unknown as RestClient, {
    entities,
    until: UNTIL,
    period,
    signal: signal ?? new AbortController().signal,
    progress: (text) => void shown.push(text),
  });

describe('the time', () => {
  test.each([
    ['7d', 7 * DAY],
    ['24h', DAY],
    ['1d12h', 36 * HOUR],
    ['90m', 1.5 * HOUR],
    ['366d', 366 * DAY],
  ])('%s', (text, period) => {
    expect(parsePeriod(text)).toBe(period);
  });

  test.each(['', '7', 'd', '7 d', '-1d', '1w', '0d', '1.5d', '367d', '7dd'])('%j is refused', (text) => {
    expect(() => parsePeriod(text)).toThrow(/^Write /);
  });
});

describe('the history', () => {
  test('is packed, from the state at the beginning on', async () => {
    const recorder = new Recorder({
      'light.a': [
        row(100, 'off', { color: 'red' }),
        row(30, 'on', { color: 'red' }),
        row(26, 'on', { color: 'blue' }),
        row(1, 'off', { color: 'red' }),
      ],
      'sensor.new': [row(2, '7')],
    });
    const { history, changes, without } = await read(
      recorder,
      ['light.a', 'sensor.new', 'light.none'],
      2 * DAY,
    );
    expect(history).toEqual({
      from: (UNTIL - 2 * DAY) / 1_000,
      to: UNTIL / 1_000,
      entities: {
        'light.a': {
          after: [0, 18 * HOUR, 4 * HOUR, 25 * HOUR],
          states: [1, 0, 0, 1],
          attributes: expect.any(Array) as unknown,
          texts: ['on', 'off'],
          sets: expect.any(Array) as unknown,
        },
        'sensor.new': { after: [46 * HOUR], states: [0], attributes: [0], texts: ['7'], sets: [{}] },
      },
    });
    const { attributes, sets } = history.entities['light.a']!;
    expect(attributes.map((index) => sets[index])).toEqual(
      ['red', 'red', 'blue', 'red'].map((color) => ({ color })),
    );
    expect(sets).toHaveLength(2);
    expect(changes).toBe(4);
    expect(without).toEqual(['light.none']);
  });

  test('is requested by day, the newest first, and by entity', async () => {
    const recorder = new Recorder({ 'a.a': [row(1_000, 'on')], 'b.b': [row(1_000, 'on')] });
    await read(recorder, ['a.a', 'b.b'], 36 * HOUR);
    const iso = (before: number) => encodeURIComponent(new Date(UNTIL - before * HOUR).toISOString());
    const path = (from: number, to: number, entity: string) =>
      `/api/history/period/${iso(from)}?filter_entity_id=${entity}&end_time=${iso(to)}&significant_changes_only=0`;
    expect(recorder.asked).toEqual([
      path(24, 0, 'a.a'),
      path(24, 0, 'b.b'),
      path(36, 24, 'a.a'),
      path(36, 24, 'b.b'),
    ]);
    expect(shown).toEqual([
      'Reading the history: day 1 of 2, entity 1 of 2, 0.0 MB',
      'Reading the history: day 1 of 2, entity 2 of 2, 0.0 MB',
      'Reading the history: day 2 of 2, entity 1 of 2, 0.0 MB',
      'Reading the history: day 2 of 2, entity 2 of 2, 0.0 MB',
    ]);
  });

  test('begins where the recorder has purged what is older', async () => {
    const recorder = new Recorder({ 'a.a': [row(60, 'off'), row(50, 'on'), row(3, 'off')] });
    recorder.purgedBefore = UNTIL - 51 * HOUR;
    const { history } = await read(recorder, ['a.a']);
    expect(history.from).toBe((UNTIL - 50 * HOUR) / 1_000);
    expect(history.entities['a.a']).toMatchObject({ after: [0, 47 * HOUR] });
    expect(recorder.asked).toHaveLength(4);
  });

  test('of a removed entity has no state', async () => {
    const recorder = new Recorder({ 'a.a': [row(9, 'off'), row(8, ''), row(7, null), row(6, 'off')] });
    expect((await read(recorder, ['a.a'], DAY)).history.entities['a.a']).toMatchObject({
      after: [0, 3 * HOUR],
      texts: ['off'],
    });
  });

  test('that is too large for one answer is requested in parts', async () => {
    const rows = Array.from({ length: 48 }, (_, index) => row(24.25 - index / 2, String(index)));
    const recorder = new Recorder({ 'a.a': rows });
    recorder.longest = 5 * HOUR;
    const { history } = await read(recorder, ['a.a'], DAY);
    const { after, states, texts } = history.entities['a.a']!;
    expect(states.map((index) => texts[index])).toEqual(rows.map(({ state }) => state));
    expect(after).toEqual([0, 0.25 * HOUR, ...Array.from({ length: 46 }, () => 0.5 * HOUR)]);
  });

  test('of one minute that is too large is an error of the hub', async () => {
    const recorder = new Recorder({ 'a.a': [row(1, 'on')] });
    recorder.longest = 0;
    await expect(read(recorder, ['a.a'], DAY)).rejects.toThrow(HubUnreachable);
  });

  test('of more than 50 MB is refused with the entities to leave out', async () => {
    const large = { text: 'x'.repeat(4_000_000) };
    const recorder = new Recorder({
      'a.small': [row(1, 'on')],
      'b.large': Array.from({ length: 14 }, (_, index) => row(20 - index, String(index), large)),
    });
    await expect(read(recorder, ['a.small', 'b.large'], DAY)).rejects.toThrow(
      /^the history of 1 d is about 56\.0 MB, and at most 50\.0 MB are read: leave out the entities with the most states, with --leave-out b\.large \(56\.0 MB\), or ask for a shorter time$/,
    );
    expect(MOST_BYTES).toBe(50_000_000);
  });

  test('lists no more entities than one line can hold', async () => {
    const of = (size: number) => [row(150, 'on', { text: 'x'.repeat(size) })];
    const recorder = new Recorder({ 'a.a': of(3_000_000), 'b.b': of(4_000_000), 'c.c': of(2_000_000) });
    // Each day includes the last state of the previous one: 9 MB, until the limit is reached.
    await expect(read(recorder, ['a.a', 'b.b', 'c.c'])).rejects.toThrow(
      / is about 6[0-9]\.\d MB, .* --leave-out b\.b \(2\d\.\d MB\), /,
    );
  });

  test('that has none of the entities is refused', async () => {
    await expect(read(new Recorder({}), ['a.a', 'b.b'])).rejects.toThrow(
      'the recorder of the hub has no state of a.a, b.b: see whether recorder in its configuration excludes them',
    );
  });

  test('without entities is empty, since times of day alone start automations', async () => {
    const { history } = await read(new Recorder({}), [], DAY);
    expect(history).toEqual({ from: (UNTIL - DAY) / 1_000, to: UNTIL / 1_000, entities: {} });
  });

  test('is given up by Ctrl-C', async () => {
    const recorder = new Recorder({ 'a.a': [row(1, 'on')] });
    await expect(read(recorder, ['a.a'], DAY, AbortSignal.abort(new Error('ended')))).rejects.toThrow(
      'ended',
    );
    expect(recorder.asked).toEqual([]);
  });
});
