import { compareCalls } from '../../../../../cli/test/record/compare-calls';
import type { SeenCall } from '../../../../../cli/test/protocol';

const START = Date.UTC(2026, 10, 2, 18);

/** Returns a call at this many seconds after the start. */
const call = (seconds: number, more: Partial<SeenCall> = {}): SeenCall => ({
  at: new Date(START + seconds * 1_000).toISOString(),
  action: 'light.turn_on',
  entities: ['light.a'],
  data: {},
  by: 'automation.a',
  ...more,
});

describe('the difference of calls', () => {
  test('of equal calls is empty, also in another order', () => {
    const calls = [call(0, { data: { a: 1, b: [2] } }), call(0, { entities: ['light.b'] }), call(5)];
    const others = [call(5), call(0, { entities: ['light.b'] }), call(0, { data: { b: [2], a: 1 } })];
    expect(compareCalls(calls, others)).toEqual({ differences: [], changed: [] });
  });

  test('ignores a random delay of up to a second', () => {
    expect(compareCalls([call(0), call(10)], [call(1), call(9.1)]).differences).toEqual([]);
    expect(compareCalls([call(0)], [call(1.1)]).differences).toMatchObject([{ anotherTime: 1 }]);
  });

  test('is counted by automation, action and target, the largest first', () => {
    const before = [call(0), call(10), call(20, { by: null })];
    const after = [
      call(0),
      ...[30, 40, 50].map((seconds) => call(seconds, { entities: ['light.b'] })),
      call(20, { by: null }),
      call(60, { by: 'script.s', action: 'notify.phone', entities: [] }),
    ];
    const { differences } = compareCalls(before, after);
    const none = { anotherTime: 0, otherData: 0 };
    expect(differences).toEqual([
      {
        by: 'automation.a',
        action: 'light.turn_on',
        entities: ['light.b'],
        ...{ before: 0, after: 3, ...none },
      },
      {
        by: 'automation.a',
        action: 'light.turn_on',
        entities: ['light.a'],
        ...{ before: 2, after: 1, ...none },
      },
      { by: 'script.s', action: 'notify.phone', entities: [], ...{ before: 0, after: 1, ...none } },
    ]);
  });

  test('names calls at another time, and those with other data', () => {
    const bright = (brightness: number) => ({ data: { brightness } });
    const before = [call(0, bright(10)), call(100), call(200), call(300)];
    const after = [call(0, bright(20)), call(100), call(250), call(350), call(400)];
    const { differences, changed } = compareCalls(before, after);
    expect(differences).toMatchObject([{ before: 4, after: 5, anotherTime: 2, otherData: 1 }]);
    expect(changed.map(({ side, at }) => [side, (Date.parse(at) - START) / 1_000])).toEqual([
      ['before', 0],
      ['after', 0],
      ['before', 200],
      ['after', 250],
      ['before', 300],
      ['after', 350],
      ['after', 400],
    ]);
  });

  test('takes an unknown author and none as the same', () => {
    const { by: _, ...unknown } = call(0);
    expect(compareCalls([unknown], [call(0, { by: null })]).differences).toEqual([]);
  });

  test('can have more calls than a function can take arguments', () => {
    const calls = Array.from({ length: 200_000 }, (_, index) => call(index * 5));
    const { differences, changed } = compareCalls(calls, []);
    expect(differences).toMatchObject([{ before: 200_000, after: 0 }]);
    expect(changed).toHaveLength(200_000);
    expect(compareCalls([], calls).changed).toHaveLength(200_000);
  });
});
