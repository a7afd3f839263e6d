import type { EntityPayload } from '../../client/config-entities';
import type { RegistryEntity } from '../../client/entity-registry';
import { HubFailed } from '../../client/errors';
import type { LiveConfig, EntityWork } from './entity-type';

/** What the hub's memory shows of an automation or a script: all of it, but with blueprints expanded. */
export async function readLiveConfig(
  kind: 'automation' | 'script',
  work: EntityWork,
  entity: RegistryEntity,
): Promise<LiveConfig> {
  if (entity.disabled_by !== null) return 'hidden';
  const actual = await work.client.entities.running(entity.entity_id);
  if (!actual) return undefined;
  const desired = await expanded(kind, work);
  return desired ? { actual, desired } : 'hidden';
}

/** The payload as the hub would show it; undefined: it uses a blueprint that the hub cannot expand (any more). */
async function expanded(
  kind: 'automation' | 'script',
  { client, payload }: EntityWork,
): Promise<EntityPayload | undefined> {
  const { use_blueprint: use, ...own } = payload;
  if (!use) return payload;
  try {
    const blueprint = use as { path: string; input: object };
    return { ...(await client.entities.expandedBlueprint(kind, blueprint)), ...own };
  } catch (error) {
    if (error instanceof HubFailed) return undefined; // a write has the hub say what is wrong
    throw error;
  }
}
