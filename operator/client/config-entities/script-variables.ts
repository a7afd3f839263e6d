import { isObject } from '../../base/is-object';
import { HubFailed, HubRejected } from '../connection/errors';
import type { HubClient } from '../hub-client';

/**
 * The variables of a script in the hub's memory, as of the start of the hub or the last reload of scripts.
 *
 * @param id id of the script in its file
 * @returns undefined if the hub has no such script, or it has no variables
 */
export async function scriptVariables(
  { entityRegistry, entities }: Pick<HubClient, 'entityRegistry' | 'entities'>,
  id: string,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  // `findNow` waits for pending events, so that entities which a reload has just added are found.
  const entity = await entityRegistry.findNow('script', id);
  // A disabled script has no state to read. Once enabled, the next reload of scripts loads it.
  if (entity?.disabled_by) await entityRegistry.enable(entity.entity_id);
  const running = entity && (await entities.running(entity.entity_id));
  const variables = running?.['variables'];
  return isObject(variables) ? variables : undefined;
}

/**
 * Makes the hub read its files again and load the scripts in them. @returns the error of files that the hub
 * cannot read
 */
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
