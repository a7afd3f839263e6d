import { MOST_DELIVERIES } from '../../../kinds/object-names';

/**
 * Bytes of the definitions in one ConfigMap that new ones are added up to, and the most that it holds: a definition that grows
 * stays where it is, and beside each one that changes its former one has to find room.
 */
export const USUAL_SIZE = 400 * 1_024;
export const LARGEST_SIZE = 900 * 1_024;

/** Bytes of data in one ConfigMap at most: the API server takes 1 MiB, with the keys and the operator's own script. */
export const LARGEST_DATA = 1_000 * 1_024;

/** Bytes of the definitions of all ConfigMaps of a hub at most. */
export const LARGEST_TOTAL = MOST_DELIVERIES * LARGEST_SIZE;

/**
 * The ConfigMap of a definition: that in which it is, while there is room; otherwise the first with room. So one change rewrites one
 * ConfigMap, also after a restart of the operator. Undefined: no ConfigMap has room.
 *
 * @param bytes of the definition
 * @param current the ConfigMap in which it is; undefined: none
 * @param sizes bytes of the other definitions in each ConfigMap
 */
export function assign(
  bytes: number,
  current: number | undefined,
  sizes: readonly number[],
): number | undefined {
  const fits = (index: number, limit: number) => (sizes[index] ?? 0) + bytes <= limit;
  if (current !== undefined && fits(current, LARGEST_SIZE)) return current;
  for (const limit of [USUAL_SIZE, LARGEST_SIZE]) {
    const index = sizes.findIndex((_, each) => fits(each, limit));
    if (index >= 0) return index;
  }
  return undefined;
}
