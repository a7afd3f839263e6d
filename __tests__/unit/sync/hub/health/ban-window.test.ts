import {
  type BanDecision,
  type BanHistory,
  banHistoryOf,
  banStatus,
  decideBanRestart,
} from '../../../../../operator/sync/hub/health/ban-recovery';
import fc from '../../../../fast-check';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const START = Date.UTC(2026, 10, 20, 12);

/** An event `after` milliseconds after the previous one. */
interface Happening {
  readonly after: number;
  /**
   * The hub is seen banned, the hub answers with our token, or the operator is restarted and knows only the
   * status.
   */
  readonly what: 'banned' | 'success' | 'operator-restart';
}

interface Seen {
  readonly at: number;
  readonly decision: BanDecision;
}

/** Returns the operator's actions over time. */
function live(happenings: readonly Happening[]): { seen: Seen[]; successes: number[] } {
  let now = START;
  let history: BanHistory = { count: 0 };
  const seen: Seen[] = [];
  const successes: number[] = [];
  for (const { after, what } of happenings) {
    now += after;
    if (what === 'success') {
      history = { ...history, window: undefined };
      successes.push(now);
    } else if (what === 'operator-restart') {
      const { banWindow, ...rest } = banStatus(history);
      history = banHistoryOf({ ...rest, ...(banWindow && { banWindow }) });
    } else {
      const decision = decideBanRestart(history, now);
      seen.push({ at: now, decision });
      if (decision.type === 'restart') history = decision.history;
    }
  }
  return { seen, successes };
}

const happening = (...kinds: Happening['what'][]): fc.Arbitrary<Happening> =>
  fc.record({ after: fc.integer({ min: 0, max: 8 * MINUTE }), what: fc.constantFrom(...kinds) });
const happenings = fc.array(happening('banned', 'banned', 'banned', 'success', 'operator-restart'), {
  maxLength: 200,
});
const withoutSuccess = fc.array(happening('banned', 'banned', 'operator-restart'), { maxLength: 200 });
const restartsOf = (seen: readonly Seen[]) =>
  seen.filter(({ decision }) => decision.type === 'restart').map(({ at }) => at);

describe('decideBanRestart, over time', () => {
  test('never restarts twice within five minutes, for any sequence of successes and restarts in between', () => {
    fc.assert(
      fc.property(happenings, (events) => {
        const restarts = restartsOf(live(events).seen);
        for (const [index, at] of restarts.slice(1).entries())
          expect(at - restarts[index]!).toBeGreaterThanOrEqual(5 * MINUTE);
      }),
    );
  });

  test('restarts at most three times in thirty minutes without a success', () => {
    fc.assert(
      fc.property(happenings, (events) => {
        const { seen, successes } = live(events);
        let window: { startedAt: number; restarts: number } | undefined;
        for (const at of restartsOf(seen)) {
          const over =
            !window ||
            at - window.startedAt >= 30 * MINUTE ||
            successes.some((success) => success >= window!.startedAt && success <= at);
          window = over ? { startedAt: at, restarts: 1 } : { ...window!, restarts: window!.restarts + 1 };
          expect(window.restarts).toBeLessThanOrEqual(3);
        }
      }),
    );
  });

  test('restarts a fourth time not before thirty minutes after the first, without a success', () => {
    fc.assert(
      fc.property(withoutSuccess, (events) => {
        const restarts = restartsOf(live(events).seen);
        for (let n = 3; n < restarts.length; n += 3)
          expect(restarts[n]! - restarts[n - 3]!).toBeGreaterThanOrEqual(30 * MINUTE);
      }),
    );
  });

  test('checks the cooldown before the limit, so that it never stops within five minutes of a restart', () => {
    fc.assert(
      fc.property(happenings, (events) => {
        const { seen } = live(events);
        let last = -Infinity;
        for (const { at, decision } of seen) {
          if (at - last < 5 * MINUTE) expect(decision.type).toBe('cooldown');
          if (decision.type === 'restart') last = at;
        }
      }),
    );
  });

  test('restarts when its waiting time is over', () => {
    fc.assert(
      fc.property(happenings, (events) => {
        const again = live([...events, { after: 0, what: 'banned' }]);
        const { decision } = again.seen.at(-1)!;
        if (decision.type === 'restart') return;
        expect(decision.after).toBeGreaterThan(0);
        // One more second, since times are rounded up when they are written.
        const later = live([...events, { after: decision.after + SECOND, what: 'banned' }]).seen.at(-1)!;
        expect(later.decision.type).not.toBe(decision.type);
      }),
    );
  });

  test('decides the same after a restart of the operator, except for the second of rounding', () => {
    fc.assert(
      fc.property(withoutSuccess, fc.integer({ min: 0, max: 40 * MINUTE }), (events, after) => {
        const probe: Happening = { after, what: 'banned' };
        const [kept, fresh] = [
          live([...events, probe]),
          live([...events, { after: 0, what: 'operator-restart' }, probe]),
        ];
        const [a, b] = [kept.seen.at(-1)!.decision, fresh.seen.at(-1)!.decision];
        if (a.type === b.type) return;
        expect(b).toMatchObject({ after: expect.any(Number) });
        expect((b as { after: number }).after).toBeLessThanOrEqual(SECOND);
      }),
    );
  });

  test('counts every restart, and no success subtracts one', () => {
    fc.assert(
      fc.property(happenings, (events) => {
        const { seen } = live(events);
        const counts = seen.flatMap(({ decision }) =>
          decision.type === 'restart' ? [decision.history.count] : [],
        );
        expect(counts).toEqual(counts.map((_, index) => index + 1));
      }),
    );
  });
});

describe('decideBanRestart', () => {
  const at = (minutes: number) => START + minutes * MINUTE;

  test.each<[string, BanHistory, number, object]>([
    [
      'the first time',
      { count: 0 },
      at(0),
      {
        type: 'restart',
        history: { count: 1, lastRestart: at(0), window: { startedAt: at(0), restarts: 1 } },
      },
    ],
    [
      'again too soon',
      { count: 1, lastRestart: at(0), window: { startedAt: at(0), restarts: 1 } },
      at(4),
      { type: 'cooldown', after: MINUTE },
    ],
    [
      'again too soon after a success',
      { count: 1, lastRestart: at(0) },
      at(4),
      { type: 'cooldown', after: MINUTE },
    ],
    [
      'for the third time',
      { count: 5, lastRestart: at(6), window: { startedAt: at(0), restarts: 2 } },
      at(12),
      { type: 'restart', history: { count: 6 } },
    ],
    [
      'for the fourth time, too soon',
      { count: 3, lastRestart: at(12), window: { startedAt: at(0), restarts: 3 } },
      at(13),
      { type: 'cooldown' },
    ],
    [
      'for the fourth time',
      { count: 3, lastRestart: at(12), window: { startedAt: at(0), restarts: 3 } },
      at(18),
      { type: 'exhausted', after: 12 * MINUTE },
    ],
    [
      'after the window',
      { count: 3, lastRestart: at(12), window: { startedAt: at(0), restarts: 3 } },
      at(30),
      { type: 'restart', history: { count: 4, window: { startedAt: at(30), restarts: 1 } } },
    ],
    [
      'with a clock that was put back a little',
      { count: 1, lastRestart: at(2) },
      at(0),
      { type: 'cooldown', after: 7 * MINUTE },
    ],
    [
      'with times of a clock that was wrong by a year',
      { count: 1, lastRestart: at(500_000), window: { startedAt: at(500_000), restarts: 3 } },
      at(0),
      { type: 'restart' },
    ],
  ])('decides on a ban that comes %s', (_when, history, now, expected) =>
    expect(decideBanRestart(history, now)).toMatchObject(expected),
  );

  test('reads a status without a history', () => expect(banHistoryOf({})).toEqual({ count: 0 }));
});
