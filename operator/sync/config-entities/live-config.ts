import type { RegistryEntity } from '../../client/api-types';
import { expandBlueprint } from './blueprint';
import type { EntityWork, LiveConfig } from './entity-type';

/** The live config of an automation or script: complete, with blueprints expanded. */
export async function readLiveConfig(
  kind: 'automation' | 'script',
  work: EntityWork,
  entity: RegistryEntity,
): Promise<LiveConfig> {
  if (entity.disabled_by !== null) return { type: 'Part', matches: true };
  const actual = await work.client.entities.running(entity.entity_id);
  if (!actual) return { type: 'None' };
  // The hub also returns the definition of an entity that it has disabled as invalid.
  const error = await work.client.repairIssues.validationErrorOf(entity.entity_id);
  if (error !== undefined) return { type: 'Invalid', error };
  const desired = await expandBlueprint(kind, work);
  return desired ? { type: 'Whole', actual, desired } : { type: 'Part', matches: true };
}
