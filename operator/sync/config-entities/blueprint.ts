import type { ConfigEntityKind, EntityPayload } from '../../client/connection/config-entity';
import { DEPENDENCY_REQUEUE } from '../../base/limits';
import { HubFailed, HubRejected } from '../../client/connection/errors';
import type { HubClient } from '../../client/hub-client';
import type { HubBlueprint } from '../../kinds';
import { conditionOf } from '../../runtime/conditions';
import { type Waiting, waiting } from '../../runtime/outcome';
import type { Services } from '../services';
import type { EntityWork } from './entity-type';

/**
 * Milliseconds between two checks for a missing blueprint, since the hub does not report that a blueprint was
 * imported.
 */
const MISSING_BLUEPRINT_INTERVAL = 60_000;

/**
 * The payload with its blueprint expanded, as the hub returns it.
 *
 * @returns undefined when the hub cannot expand the blueprint
 */
export async function expandBlueprint(
  kind: 'automation' | 'script',
  { client, payload }: Pick<EntityWork, 'client' | 'payload'>,
): Promise<EntityPayload | undefined> {
  try {
    return await expanded(kind, client, payload);
  } catch (error) {
    // The hub will give the reason when the payload is written.
    if (error instanceof HubFailed || error instanceof HubRejected) return undefined;
    throw error;
  }
}

/**
 * Like {@link expandBlueprint}, but throws.
 *
 * @throws HubFailed, HubRejected the hub cannot expand the blueprint
 */
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

/**
 * The outcome while the HubBlueprint with a definition's blueprint is not Ready.
 *
 * @returns undefined when it is Ready, or no HubBlueprint has the blueprint
 */
export function untilBlueprintReady(
  { cache }: Pick<Services, 'cache'>,
  kind: ConfigEntityKind,
  { payload, resource: { metadata, spec } }: Pick<EntityWork, 'payload' | 'resource'>,
): Waiting | undefined {
  const path = pathOf(payload);
  if (path === undefined) return undefined;
  const ofPath = [...cache.ofHub<HubBlueprint>('HubBlueprint', metadata.namespace, spec.hubRef.name)].filter(
    (each) => each.spec.domain === kind && each.spec.path === path && !each.metadata.deletionTimestamp,
  );
  const [awaited] = ofPath;
  // A second resource of the path is never Ready.
  if (!awaited || ofPath.some(isUsable)) return undefined;
  const message = `Waiting for the HubBlueprint ${awaited.metadata.name}, which has the blueprint ${path}.`;
  return waiting('BlueprintNotReady', message, DEPENDENCY_REQUEUE);
}

/**
 * The outcome of {@link untilBlueprintReady}, or the outcome while the hub does not have the blueprint, since
 * the hub would then reject the definition.
 */
export async function untilBlueprint(
  services: Pick<Services, 'cache'>,
  kind: ConfigEntityKind,
  work: Pick<EntityWork, 'client' | 'payload' | 'resource'>,
): Promise<Waiting | undefined> {
  const path = pathOf(work.payload);
  if (kind === 'scene' || path === undefined) return undefined;
  const awaited = untilBlueprintReady(services, kind, work);
  if (awaited || (await isThere(kind, path, work))) return awaited;
  const message = `The hub has no blueprint ${path}: create a HubBlueprint with it, or import it in the hub.`;
  return waiting('BlueprintNotReady', message, MISSING_BLUEPRINT_INTERVAL);
}

/**
 * Reports whether the hub has the blueprint. It uses files that it does not list, such as one behind a symbolic
 * link. True if it cannot list any: it will give the reason when the payload is written.
 */
async function isThere(
  kind: 'automation' | 'script',
  path: string,
  { client, payload }: Pick<EntityWork, 'client' | 'payload'>,
): Promise<boolean> {
  try {
    if ((await client.blueprints.list(kind)).has(path)) return true;
  } catch (error) {
    if (error instanceof HubFailed || error instanceof HubRejected) return true;
    throw error;
  }
  return (await expandBlueprint(kind, { client, payload })) !== undefined;
}

const pathOf = ({ use_blueprint: use }: EntityPayload): string | undefined =>
  (use as { readonly path: string } | undefined)?.path;

/** Reports whether the hub can expand the blueprint of the payload now, but could not at the last check. */
export async function blueprintAppeared(
  kind: ConfigEntityKind,
  { client, payload, cached }: Pick<EntityWork, 'client' | 'payload' | 'cached'>,
): Promise<boolean> {
  if (kind === 'scene' || !payload['use_blueprint']) return false;
  const wasMissing = cached.blueprintMissing;
  cached.blueprintMissing = (await expandBlueprint(kind, { client, payload })) === undefined;
  return wasMissing === true && !cached.blueprintMissing;
}

/** The delay until the next check for a missing blueprint, as part of an outcome. */
export function blueprintRecheck({ cached }: Pick<EntityWork, 'cached'>): { readonly after?: number } {
  return cached.blueprintMissing ? { after: MISSING_BLUEPRINT_INTERVAL } : {};
}

/**
 * Reports whether the hub has the blueprint of the present spec. A suspended resource stands for the blueprint that the
 * hub has.
 */
function isUsable(blueprint: HubBlueprint): boolean {
  const { metadata, spec } = blueprint;
  const { status, observedGeneration } = conditionOf(blueprint, 'Ready') ?? {};
  return status === 'True' && (spec.suspend === true || observedGeneration === metadata.generation);
}
