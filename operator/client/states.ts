import { NotFound } from './errors';
import type { RestClient } from './rest';

export interface EntityState {
  /** `on`, `off`, `unavailable`, … */
  readonly state: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** ISO 8601. */
  readonly last_updated: string;
  /** The context of the change that led to this state. */
  readonly context: { readonly id: string };
}

/** The value of an entity's state, such as `on`; undefined: the entity has no state or does not exist. */
export async function stateOf(rest: RestClient, entityId: string): Promise<string | undefined> {
  return (await getEntityState(rest, entityId))?.state;
}

/** The state of an entity with its attributes; undefined: the entity has no state or does not exist. */
export async function getEntityState(rest: RestClient, entityId: string): Promise<EntityState | undefined> {
  try {
    return await rest.get<EntityState>(`/api/states/${encodeURIComponent(entityId)}`);
  } catch (error) {
    if (error instanceof NotFound) return undefined;
    throw error;
  }
}
