/** Items in a random order, the same one again for the same `TEST_SEED`. Put the seed into the test's name. */
export function shuffled<T>(items: readonly T[]): { readonly order: readonly T[]; readonly seed: number } {
  const seed = Number(process.env['TEST_SEED'] ?? Math.floor(Math.random() * 1e6));
  const random = generator(seed);
  const order = items.map((item) => ({ item, rank: random() })).sort((a, b) => a.rank - b.rank);
  return { order: order.map(({ item }) => item), seed };
}

/** Numbers from 0 to 1 (mulberry32), good enough to mix a handful of things. */
function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
