import { randomNumbers, seed } from '../seed';

/**
 * Returns the items in a random order, which is the same for the same `SEED`. The name of the test should
 * contain the seed.
 */
export function shuffled<T>(items: readonly T[]): { readonly order: readonly T[]; readonly seed: number } {
  const random = randomNumbers();
  const order = items.map((item) => ({ item, rank: random() })).sort((a, b) => a.rank - b.rank);
  return { order: order.map(({ item }) => item), seed };
}
