import type { EntityPayload } from '../../client/config-entity';
import type { RegistryEntity } from '../../client/api-types';
import { HubFailed } from '../../client/errors';
import type { EntityWork, LiveConfig } from './entity-type';

/** What the hub shows of a running automation or script: all of it, with blueprints expanded. */
export async function readLiveConfig(
  kind: 'automation' | 'script',
  work: EntityWork,
  entity: RegistryEntity,
): Promise<LiveConfig> {
  if (entity.disabled_by !== null) return { type: 'Part', matches: true };
  const actual = await work.client.entities.running(entity.entity_id);
  if (!actual) return { type: 'None' };
  // The hub shows the definition of one that it has disabled as invalid, too.
  const error = await work.client.repairIssues.validationErrorOf(entity.entity_id);
  if (error !== undefined) return { type: 'Invalid', error };
  const desired = await expand(kind, work);
  return desired ? { type: 'Whole', actual, desired } : { type: 'Part', matches: true };
}

/** The payload as the hub would show it; undefined: it uses a blueprint that the hub cannot expand. */
async function expand(
  kind: 'automation' | 'script',
  { client, payload }: EntityWork,
): Promise<EntityPayload | undefined> {
  const { use_blueprint: use, ...own } = payload;
  if (!use) return payload;
  try {
    const blueprint = use as { path: string; input: object };
    return { ...(await client.entities.expandedBlueprint(kind, blueprint)), ...own };
  } catch (error) {
    if (error instanceof HubFailed) return undefined; // the hub answers a write with the reason
    throw error;
  }
}
