import type { ConfigEntityKind, EntityPayload } from '../../../client/connection/config-entity';
import { validationError } from '../../../client/config-entities/validation';
import { HubFailed, HubRejected } from '../../../client/connection/errors';
import type { HubClient } from '../../../client/hub-client';
import { expanded } from '../blueprint';

/**
 * Has the hub validate a definition before it gets into a file, as its API does with one that is written: an item that the hub
 * disables would take the former one with it. Of scenes the hub validates nothing by itself.
 *
 * @throws HubRejected with the hub's validation error
 */
export async function checkDefinition(
  client: Pick<HubClient, 'connection' | 'entities'>,
  kind: ConfigEntityKind,
  payload: EntityPayload,
): Promise<void> {
  if (kind === 'scene') return;
  // A definition that does not load all the same is taken out again.
  const error = await validationError(client.connection, kind, await whole(client, kind, payload));
  if (error !== undefined) throw new HubRejected('400', `Message malformed: ${error}`);
}

/** @throws HubRejected the hub cannot expand the blueprint */
async function whole(
  client: Pick<HubClient, 'entities'>,
  kind: 'automation' | 'script',
  payload: EntityPayload,
): Promise<EntityPayload> {
  try {
    return await expanded(kind, client, payload);
  } catch (error) {
    if (error instanceof HubFailed) throw new HubRejected('400', error.message);
    throw error;
  }
}
