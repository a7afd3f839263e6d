import { Backoff, backoffDelay } from '../../../operator/runtime/backoff';
import fc from '../../fast-check';

const FIRST = 5;
const LAST = 1_000_000;

describe('backoffDelay', () => {
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

  test('is spread over half of the full delay, so that simultaneous failures are not retried at the same time', () => {
    const delays = Array.from({ length: 1_000 }, () => backoffDelay(4, FIRST, LAST));
    expect(Math.min(...delays)).toBeLessThan(45);
    expect(Math.max(...delays)).toBeGreaterThan(75);
    expect(backoffDelay(4, FIRST, LAST, () => 0)).toBe(40);
  });
});

describe('Backoff', () => {
  const isBackoff = (delay: number, full: number) => delay >= full / 2 && delay <= full;

  test('each failure of a key doubles its delay, until the key is forgotten', () => {
    const backoff = new Backoff<string>(FIRST, LAST);
    for (let failure = 0; failure < 8; failure++)
      expect(isBackoff(backoff.next('a'), FIRST * 2 ** failure)).toBe(true);
    expect(isBackoff(backoff.next('b'), FIRST)).toBe(true);
    backoff.forget('a');
    expect(isBackoff(backoff.next('a'), FIRST)).toBe(true);
  });

  test('the delay is limited by the last one, or by the maximum of the caller', () => {
    const backoff = new Backoff<string>(FIRST, LAST);
    for (let failure = 0; failure < 40; failure++) backoff.next('a');
    expect(isBackoff(backoff.next('a'), LAST)).toBe(true);
    expect(isBackoff(backoff.next('a', 10_000), 10_000)).toBe(true);
  });
});
