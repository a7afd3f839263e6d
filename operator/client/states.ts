import { NotFound } from './errors';
import type { Rest } from './rest';

export interface EntityState {
  /** `on`, `off`, `unavailable`, … */
  readonly state: string;
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** The state of an entity; undefined: it has none, or does not exist. */
export async function stateOf(rest: Rest, entityId: string): Promise<string | undefined> {
  return (await wholeStateOf(rest, entityId))?.state;
}

/** The same with the attributes. */
export async function wholeStateOf(rest: Rest, entityId: string): Promise<EntityState | undefined> {
  try {
    return await rest.get<EntityState>(`/api/states/${encodeURIComponent(entityId)}`);
  } catch (error) {
    if (error instanceof NotFound) return undefined;
    throw error;
  }
}
