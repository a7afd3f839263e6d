import { undefinedIf } from '../../base/undefined-if';
import { type EntityState, entityState } from '../connection/answers';
import { isNotFound } from '../connection/errors';
import type { RestClient } from '../connection/rest';

/** The state of an entity, such as `on`; undefined if the entity has no state or does not exist. */
export async function stateOf(rest: RestClient, entityId: string): Promise<string | undefined> {
  return (await getEntityState(rest, entityId))?.state;
}

/** The state of an entity with its attributes; undefined if the entity has no state or does not exist. */
export function getEntityState(rest: RestClient, entityId: string): Promise<EntityState | undefined> {
  const path = `/api/states/${encodeURIComponent(entityId)}`;
  return undefinedIf(isNotFound, rest.get(path, { answer: entityState }));
}
