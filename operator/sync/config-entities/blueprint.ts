import type { ConfigEntityKind, EntityPayload } from '../../client/connection/config-entity';
import { HubFailed, HubRejected } from '../../client/connection/errors';
import type { HubClient } from '../../client/hub-client';
import type { EntityWork } from './entity-type';

/** Milliseconds between two checks for a missing blueprint: the hub does not report that a blueprint was imported. */
const MISSING_BLUEPRINT_INTERVAL = 60_000;

/** The payload with its blueprint expanded, as the hub shows it; undefined: the hub cannot expand the blueprint. */
export async function expandBlueprint(
  kind: 'automation' | 'script',
  { client, payload }: Pick<EntityWork, 'client' | 'payload'>,
): Promise<EntityPayload | undefined> {
  try {
    return await expanded(kind, client, payload);
  } catch (error) {
    // The hub answers a write with the reason.
    if (error instanceof HubFailed || error instanceof HubRejected) return undefined;
    throw error;
  }
}

/** As above. @throws HubFailed, HubRejected the hub cannot expand the blueprint */
export async function expanded(
  kind: 'automation' | 'script',
  { entities }: Pick<HubClient, 'entities'>,
  payload: EntityPayload,
): Promise<EntityPayload> {
  const { use_blueprint: use, ...own } = payload;
  if (!use) return payload;
  const blueprint = use as { path: string; input: object };
  return { ...(await entities.expandedBlueprint(kind, blueprint)), ...own };
}

/** Whether the hub can expand the blueprint of the payload now but could not at the last check. */
export async function blueprintAppeared(
  kind: ConfigEntityKind,
  { client, payload, cached }: Pick<EntityWork, 'client' | 'payload' | 'cached'>,
): Promise<boolean> {
  if (kind === 'scene' || !payload['use_blueprint']) return false;
  const wasMissing = cached.blueprintMissing;
  cached.blueprintMissing = (await expandBlueprint(kind, { client, payload })) === undefined;
  return wasMissing === true && !cached.blueprintMissing;
}

/** The time of the next check for a missing blueprint, for an outcome. */
export function blueprintRecheck({ cached }: Pick<EntityWork, 'cached'>): { readonly after?: number } {
  return cached.blueprintMissing ? { after: MISSING_BLUEPRINT_INTERVAL } : {};
}
