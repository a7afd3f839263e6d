import type { ConfigEntityKind, EntityPayload } from '../../../client/connection/config-entity';
import { HubFailed, HubRejected, isUnknownCommand } from '../../../client/connection/errors';
import type { HubClient } from '../../../client/hub-client';
import { expanded } from '../blueprint';

/** The parts of a definition that the hub validates, by its names for them. */
const PARTS = {
  automation: { triggers: 'triggers', conditions: 'conditions', actions: 'actions' },
  script: { actions: 'sequence' },
} as const;

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
  const definition = await whole(client, kind, payload);
  const asked = Object.entries(PARTS[kind]).flatMap(([name, key]) =>
    definition[key] === undefined ? [] : [[name, definition[key]] as const],
  );
  if (asked.length === 0) return;
  try {
    const answer = await client.connection.command('validate_config', Object.fromEntries(asked));
    const [error] = Object.values(answer).flatMap((part) => part?.error ?? []);
    if (error !== undefined) throw new HubRejected('400', `Message malformed: ${error}`);
  } catch (error) {
    if (!isUnknownCommand(error)) throw error; // a definition that does not load is taken out again
  }
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
