import { type EntityState, entityState } from '../connection/answers';
import { NotFound } from '../connection/errors';
import type { RestClient } from '../connection/rest';

/** The value of an entity's state, such as `on`; undefined: the entity has no state or does not exist. */
export async function stateOf(rest: RestClient, entityId: string): Promise<string | undefined> {
  return (await getEntityState(rest, entityId))?.state;
}

/** The state of an entity with its attributes; undefined: the entity has no state or does not exist. */
export async function getEntityState(rest: RestClient, entityId: string): Promise<EntityState | undefined> {
  try {
    return await rest.get(`/api/states/${encodeURIComponent(entityId)}`, { answer: entityState });
  } catch (error) {
    if (error instanceof NotFound) return undefined;
    throw error;
  }
}
