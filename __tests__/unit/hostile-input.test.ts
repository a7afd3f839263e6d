import { hostileScenarios, runHostileInput } from '../../bench/hostile-input';

/** `make bench NAME=hostile-input` repeats each scenario a thousand times. */
const COUNT = 60;
/** Lists take longer, and three of them fill the memory for all lists. */
const LISTS = 20;
const MEGABYTE = 1_000_000;
/** Longest pause in milliseconds. It and TEXT_TIME hold for a machine of the usual speed. */
const PAUSE = 2_000;
/** The highest cost of a text for the operator itself, in milliseconds of processor time and in bytes. */
const TEXT_TIME = 200;
const TEXT_HEAP = 40 * MEGABYTE;

// A process that ran out of memory cannot report it, so the test fails with the end of its output.
describe('the operator with the flags of its image, and 42 MB in use', () => {
  test.each(hostileScenarios)(
    `survives ${COUNT} times (lists: ${LISTS}) %s, and no pause takes longer than 2 s`,
    async (scenario) => {
      const count = scenario === 'kept-lists' ? LISTS : COUNT;
      const figures = await runHostileInput(scenario, count);
      const { answered, costOfText, longestPause, peakHeap, refused, slowness } = figures;
      expect(answered + refused).toBe(count);
      expect(longestPause).toBeLessThan(PAUSE * slowness);
      expect(peakHeap).toBeLessThan(150 * MEGABYTE);
      expect(costOfText?.time ?? 0).toBeLessThan(TEXT_TIME * slowness);
      expect(costOfText?.heap ?? 0).toBeLessThan(TEXT_HEAP);
    },
  );
});
