import { hostileScenarios, runHostileInput } from '../../bench/hostile-input';

/** `make bench NAME=hostile-input` does the same a thousand times. */
const COUNT = 60;
/** A list takes longer, and three fill the memory that there is for all. */
const LISTS = 20;
const MEGABYTE = 1_000_000;
/** The most that a text costs the operator itself, in milliseconds of processor time and bytes. */
const TEXT_TIME = 200;
const TEXT_HEAP = 40 * MEGABYTE;

// A process that ran out of memory cannot report it: the test fails with the end of its output.
describe('the operator with the flags of its image, and 42 MB held', () => {
  test.each(hostileScenarios)(
    `lives through ${COUNT} times (lists: ${LISTS}) %s, and no pause takes longer than 2 s`,
    async (scenario) => {
      const count = scenario === 'kept-lists' ? LISTS : COUNT;
      const { answered, costOfText, longestPause, peakHeap, refused } = await runHostileInput(
        scenario,
        count,
      );
      expect(answered + refused).toBe(count);
      expect(longestPause).toBeLessThan(2_000);
      expect(peakHeap).toBeLessThan(150 * MEGABYTE);
      expect(costOfText?.time ?? 0).toBeLessThan(TEXT_TIME);
      expect(costOfText?.heap ?? 0).toBeLessThan(TEXT_HEAP);
    },
  );
});
