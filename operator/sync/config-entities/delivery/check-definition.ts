import type { ConfigEntityKind, EntityPayload } from '../../../client/connection/config-entity';
import { validationError } from '../../../client/config-entities/validation';
import { HubFailed, HubRejected } from '../../../client/connection/errors';
import type { HubClient } from '../../../client/hub-client';
import { expanded } from '../blueprint';

/**
 * Makes the hub validate a definition before it is written into a file, as the hub's API does before a write.
 * Otherwise a definition that the hub disables as invalid would replace the working one. For scenes, the hub
 * has no validation.
 *
 * @throws HubRejected with the hub's validation error
 */
export async function checkDefinition(
  client: Pick<HubClient, 'connection' | 'entities'>,
  kind: ConfigEntityKind,
  payload: EntityPayload,
): Promise<void> {
  if (kind === 'scene') return;
  // If the hub does not load a definition although it is valid, the definition is removed again.
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
