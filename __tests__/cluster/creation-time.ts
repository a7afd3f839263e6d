import { until } from '.';
import type { Home } from './home';

/**
 * Resolves when objects that are created from now on are younger than this object. Creation times are whole
 * seconds, so of two objects with equal times the operator may take either as the older one.
 */
export async function outliveCreation(home: Home, kind: string, name: string): Promise<void> {
  const { creationTimestamp } = (await home.get(kind, name)).metadata;
  const next = Date.parse(creationTimestamp) + 1_000;
  await until('the second of its creation is over', () => Date.now() >= next);
}
