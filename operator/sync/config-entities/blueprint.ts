import type { ConfigEntityKind, EntityPayload } from '../../client/config-entity';
import { HubFailed, HubRejected } from '../../client/errors';
import type { EntityWork } from './entity-type';

/** The hub does not report that a blueprint was imported. A missing one is looked for this often (milliseconds). */
const MISSING_BLUEPRINT_INTERVAL = 60_000;

/** The payload as the hub would show it; undefined: it uses a blueprint that the hub cannot expand. */
export async function expandBlueprint(
  kind: 'automation' | 'script',
  { client, payload }: Pick<EntityWork, 'client' | 'payload'>,
): Promise<EntityPayload | undefined> {
  const { use_blueprint: use, ...own } = payload;
  if (!use) return payload;
  try {
    const blueprint = use as { path: string; input: object };
    return { ...(await client.entities.expandedBlueprint(kind, blueprint)), ...own };
  } catch (error) {
    // The hub answers a write with the reason.
    if (error instanceof HubFailed || error instanceof HubRejected) return undefined;
    throw error;
  }
}

/** The hub could not expand the blueprint of the payload when this was last asked, and can now. */
export async function blueprintAppeared(
  kind: ConfigEntityKind,
  { client, payload, cached }: Pick<EntityWork, 'client' | 'payload' | 'cached'>,
): Promise<boolean> {
  if (kind === 'scene' || !payload['use_blueprint']) return false;
  const wasMissing = cached.blueprintMissing;
  cached.blueprintMissing = (await expandBlueprint(kind, { client, payload })) === undefined;
  return wasMissing === true && !cached.blueprintMissing;
}

/** When to look for a missing blueprint again, for an outcome. */
export function blueprintRecheck({ cached }: Pick<EntityWork, 'cached'>): { readonly after?: number } {
  return cached.blueprintMissing ? { after: MISSING_BLUEPRINT_INTERVAL } : {};
}
