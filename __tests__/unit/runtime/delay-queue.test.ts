import { DelayQueue } from '../../../operator/runtime/delay-queue';
import type { Priority } from '../../../operator/runtime/priority';
import { ManualClock } from '../manual-clock';
import fc from '../../fast-check';

function setup() {
  const clock = new ManualClock();
  const due: string[][] = [];
  const queue = new DelayQueue<string>(clock, (keys) =>
    due.push(keys.map(({ key, priority }) => `${key} ${priority}`)),
  );
  return { clock, due, queue };
}

describe('DelayQueue', () => {
  test('keys that are due at the same time come together, after those that are due earlier', async () => {
    const { clock, due, queue } = setup();
    queue.add('late', 2_000, 'change');
    queue.add('a', 1_000, 'change');
    queue.add('b', 1_000, 'resync');
    await clock.advance(2_000);
    expect(due).toEqual([['a change', 'b resync'], ['late change']]);
  });

  test('of several adds the earliest time and the strongest priority count, and one entry is kept', async () => {
    const { clock, due, queue } = setup();
    queue.add('a', 2_000, 'resync');
    queue.add('a', 3_000, 'change');
    queue.add('a', 1_000, 'resync');
    expect(queue.size).toBe(1);
    await clock.advance(1_000);
    expect(due).toEqual([['a change']]);
    await clock.advance(10_000);
    expect(due).toHaveLength(1);
  });

  test('a stopped queue leaves no timer and calls back no more', async () => {
    const { clock, due, queue } = setup();
    queue.add('a', 1_000, 'change');
    queue.stop();
    queue.add('b', 1_000, 'change');
    expect(clock.pendingTimers).toBe(0);
    await clock.advance(10_000);
    expect(due).toEqual([]);
  });

  const keys = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
  const command = fc.record({
    key: fc.constantFrom(...keys),
    delay: fc.option(fc.integer({ min: 1, max: 100 }), { nil: undefined }),
    priority: fc.constantFrom<Priority>('change', 'resync'),
    advance: fc.integer({ min: 0, max: 20 }),
  });

  test('every key comes at its earliest time and removed keys never, in any order of commands', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(command, { maxLength: 60 }), async (commands) => {
        const clock = new ManualClock();
        const expected = new Map<string, number>();
        const queue = new DelayQueue<string>(clock, (due) => {
          for (const { key } of due) {
            expect(expected.get(key)).toBe(clock.monotonic());
            expected.delete(key);
          }
        });
        for (const { advance, delay, key, priority } of commands) {
          if (delay === undefined) {
            expect(queue.remove(key) !== undefined).toBe(expected.has(key));
            expected.delete(key);
          } else {
            queue.add(key, delay, priority);
            expected.set(key, Math.min(expected.get(key) ?? Infinity, clock.monotonic() + delay));
          }
          expect(queue.nextDue).toBe(Math.min(Infinity, ...expected.values()));
          await clock.advance(advance);
          expect(queue.size).toBe(expected.size);
        }
      }),
      { numRuns: 100 },
    );
  });
});
