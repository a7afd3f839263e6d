import { MOST_DELIVERIES } from '../../../kinds/object-names';

/**
 * Limits for the bytes of the definitions in one ConfigMap. New definitions are added up to the first limit.
 * The second is the maximum, which leaves room for definitions that grow, and for the former version of each
 * changed definition.
 */
export const USUAL_SIZE = 400 * 1_024;
export const LARGEST_SIZE = 900 * 1_024;

/**
 * Limit for the bytes of all data in one ConfigMap. The API server accepts 1 MiB including the keys and the
 * operator's own script.
 */
export const LARGEST_DATA = 1_000 * 1_024;

/** Limit for the bytes of the definitions in all ConfigMaps of a hub. */
export const LARGEST_TOTAL = MOST_DELIVERIES * LARGEST_SIZE;

/**
 * Chooses the ConfigMap of a definition: its present one if that has room, otherwise the first with room. A
 * change then rewrites only one ConfigMap, also after a restart of the operator.
 *
 * @param bytes size of the definition
 * @param current the ConfigMap that has the definition, if any
 * @param sizes bytes of the other definitions in each ConfigMap
 * @returns undefined when no ConfigMap has room
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
