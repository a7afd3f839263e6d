import type { RegistryEntity } from '../../client/connection/api-types';
import type { EntityPayload } from '../../client/connection/config-entity';
import { isUnknownCommand } from '../../client/connection/errors';
import type { HubClient } from '../../client/hub-client';
import { getEntityState } from '../../client/config-entities/states';
import { expandBlueprint } from './blueprint';
import type { EntityWork, LiveConfig } from './entity-type';

/** The live config of an automation or script: complete, with blueprints expanded. */
export async function readLiveConfig(
  kind: 'automation' | 'script',
  work: EntityWork,
  entity: RegistryEntity,
): Promise<LiveConfig> {
  if (entity.disabled_by !== null) return { type: 'Part', matches: true };
  const actual = await running(work.client, entity.entity_id);
  if (!actual) return { type: 'None' };
  // The hub also returns the definition of an entity that it has disabled as invalid.
  const error = await work.client.repairIssues.validationErrorOf(entity.entity_id);
  if (error !== undefined) return { type: 'Invalid', error };
  if (actual === 'hidden') return readState(work.client, entity.entity_id);
  const desired = await expandBlueprint(kind, work);
  return desired ? { type: 'Whole', actual, desired } : { type: 'Part', matches: true, actual };
}

/**
 * The running payload of an entity. `hidden` means that the component is loaded, but this version of the hub
 * has no command that returns the payload.
 */
async function running(client: HubClient, entityId: string): Promise<EntityPayload | 'hidden' | undefined> {
  try {
    return await client.entities.running(entityId);
  } catch (error) {
    if (isUnknownCommand(error)) return 'hidden';
    throw error;
  }
}

/**
 * The running config according to the entity's state: a hub that runs the entity gives it a state. The rest
 * is only in the hub's file.
 */
async function readState(client: HubClient, entityId: string): Promise<LiveConfig> {
  const state = await getEntityState(client.rest, entityId);
  if (!state || state.state === 'unavailable') return { type: 'None' };
  // A reload recreates the entity, which updates its state.
  return { type: 'Part', matches: true, revision: `${state.last_updated} ${state.context.id}` };
}
