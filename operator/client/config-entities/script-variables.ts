import { isObject } from '../../base/is-object';
import { HubFailed, HubRejected } from '../connection/errors';
import type { HubClient } from '../hub-client';

/**
 * The variables of a script in the hub's memory, as it read them last: at its start or at a reload of scripts.
 *
 * @param id of the script in its file
 * @returns undefined: the hub has no such script, or it has no variables
 */
export async function scriptVariables(
  { entityRegistry, entities }: Pick<HubClient, 'entityRegistry' | 'entities'>,
  id: string,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  // Entities that a reload has just added are known to the registry when its events have arrived.
  const entity = await entityRegistry.findNow('script', id);
  // A disabled one has no state to show; the next reload of scripts loads it.
  if (entity?.disabled_by) await entityRegistry.enable(entity.entity_id);
  const running = entity && (await entities.running(entity.entity_id));
  const variables = running?.['variables'];
  return isObject(variables) ? variables : undefined;
}

/** Has the hub read its files again and load the scripts in them. Resolves with the error of files that it cannot read. */
export async function rereadScripts({
  entities,
}: Pick<HubClient, 'entities'>): Promise<HubRejected | HubFailed | undefined> {
  try {
    await entities.reload('script');
    return undefined;
  } catch (error) {
    if (error instanceof HubRejected || error instanceof HubFailed) return error;
    throw error;
  }
}
