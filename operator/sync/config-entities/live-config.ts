import type { EntityBody } from '../../client/config-entities';
import type { RegistryEntity } from '../../client/entity-registry';
import { HubFailed } from '../../client/errors';
import type { Shown, Work } from './entity-type';

/** What the hub's memory shows of an automation or a script: all of it, but with blueprints expanded. */
export async function shownInMemory(
  kind: 'automation' | 'script',
  work: Work,
  entity: RegistryEntity,
): Promise<Shown> {
  if (entity.disabled_by !== null) return 'hidden';
  const present = await work.client.entities.running(entity.entity_id);
  if (!present) return undefined;
  const wanted = await expanded(kind, work);
  return wanted ? { present, wanted } : 'hidden';
}

/** The body as the hub would show it; undefined: it uses a blueprint that the hub cannot expand (any more). */
async function expanded(
  kind: 'automation' | 'script',
  { client, body }: Work,
): Promise<EntityBody | undefined> {
  const { use_blueprint: use, ...own } = body;
  if (!use) return body;
  try {
    const blueprint = use as { path: string; input: object };
    return { ...(await client.entities.expandedBlueprint(kind, blueprint)), ...own };
  } catch (error) {
    if (error instanceof HubFailed) return undefined; // a write has the hub say what is wrong
    throw error;
  }
}
