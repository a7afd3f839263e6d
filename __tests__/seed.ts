/**
 * The seed of all random tests of this process: `SEED` of the environment, which a failed run prints, or a
 * new one.
 */
export const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31));

/**
 * Returns a generator of numbers from 0 to 1, which are equal for equal seeds (mulberry32). The quality
 * suffices to shuffle a few items.
 */
export function randomNumbers(from = seed): () => number {
  let state = from >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
