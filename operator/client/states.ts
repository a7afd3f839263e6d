import { NotFound } from './errors';
import type { Rest } from './rest';

/** The state of an entity (`on`, `off`, `unavailable`, …); undefined: it has none, or does not exist. */
export async function stateOf(rest: Rest, entityId: string): Promise<string | undefined> {
  try {
    return (await rest.get<{ readonly state: string }>(`/api/states/${encodeURIComponent(entityId)}`)).state;
  } catch (error) {
    if (error instanceof NotFound) return undefined;
    throw error;
  }
}
