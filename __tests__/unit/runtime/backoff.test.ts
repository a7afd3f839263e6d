import fc from 'fast-check';
import { backoffDelay } from '../../../operator/runtime/backoff';

const FIRST = 5;
const LAST = 1_000_000;

test('doubles with each attempt, up to the last', () => {
  const longest = Array.from({ length: 20 }, (_, attempt) => backoffDelay(attempt, FIRST, LAST, () => 1));
  expect(longest.slice(0, 5)).toEqual([5, 10, 20, 40, 80]);
  expect(longest.slice(-3)).toEqual([655_360, LAST, LAST]);
});

test('lies between half of the full delay and all of it, for any attempt', () => {
  fc.assert(
    fc.property(fc.nat(), fc.double({ min: 0, max: 1, noNaN: true }), (attempt, random) => {
      const full = Math.min(LAST, FIRST * 2 ** attempt);
      const delay = backoffDelay(attempt, FIRST, LAST, () => random);
      expect(delay).toBeGreaterThanOrEqual(full / 2);
      expect(delay).toBeLessThanOrEqual(full);
    }),
  );
});
