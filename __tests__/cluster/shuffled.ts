import { randomNumbers, seed } from '../seed';

/** Items in a random order, the same one again for the same `SEED`. Put the seed into the test's name. */
export function shuffled<T>(items: readonly T[]): { readonly order: readonly T[]; readonly seed: number } {
  const random = randomNumbers();
  const order = items.map((item) => ({ item, rank: random() })).sort((a, b) => a.rank - b.rank);
  return { order: order.map(({ item }) => item), seed };
}
