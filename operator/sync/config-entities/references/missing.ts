import { nearestName } from '../../../base/nearest-name';
import { undefinedIf } from '../../../base/undefined-if';
import type { ConfigEntityKind } from '../../../client/connection/config-entity';
import { domainOf } from '../../../client/connection/entity-id';
import { isUnknownCommand } from '../../../client/connection/errors';
import type { HubClient } from '../../../client/hub-client';
import type { ReferenceType } from '../../../client/registries/known-names';
import type { Reference } from './extract';
import type { Suggestions } from './suggestion';

/** The ids of one type that the hub has. */
export interface HubIds {
  has(id: string): boolean;
  /** The id that a mistyped one probably stands for. Undefined if no id is similar. */
  suggest(id: string): string | undefined;
}

/**
 * Reads the ids of the hub that these references need, by type.
 *
 * @param own entity of the definition itself, which is never suggested
 * @param suggestions those of the hub
 * @throws HubError
 */
export async function readIds(
  client: HubClient,
  references: readonly Reference[],
  own: string,
  suggestions: Suggestions,
): Promise<ReadonlyMap<ReferenceType, HubIds>> {
  const ids = new Map<ReferenceType, HubIds>();
  for (const { type } of references)
    if (!ids.has(type)) ids.set(type, await idsOf(client, type, own, suggestions));
  return ids;
}

async function idsOf(
  client: HubClient,
  type: ReferenceType,
  own: string,
  suggestions: Suggestions,
): Promise<HubIds> {
  switch (type) {
    case 'entity': {
      const names = await client.names.read();
      const has = (id: string) => names.hasEntity(id);
      const all = () => names.entitiesBut(own);
      return { has, suggest: (id) => suggestions.suggest(id, own, names.version, { has, all }) };
    }
    case 'action': {
      const names = await client.names.read();
      const has = (id: string) => names.hasAction(id);
      const all = () => names.actions();
      return { has, suggest: (id) => suggestions.suggest(id, 'action', names.version, { has, all }) };
    }
    case 'device': {
      const devices = await client.settings.device.entries();
      return { has: (id) => devices.get(id) !== undefined, suggest: () => undefined };
    }
    case 'area':
    case 'floor':
    case 'label': {
      const entries = await client.registries[type].entries();
      return { has: (id) => entries.has(id), suggest: (id) => nearestName(id, [...entries.keys()]) };
    }
  }
}

/**
 * The missing references that the hub's own search also finds. The hub knows the devices into which a former
 * device was split, and a hub of another version may search fewer places. Actions are not part of that
 * search, so all missing actions are returned.
 *
 * @throws HubError
 */
export async function confirmed(
  client: HubClient,
  kind: ConfigEntityKind,
  entityId: string,
  missing: readonly Reference[],
): Promise<readonly Reference[]> {
  if (missing.every(({ type }) => type === 'action')) return missing;
  const search = client.connection.command('search/related', { item_type: kind, item_id: entityId });
  const related = await undefinedIf(isUnknownCommand, search);
  return missing.filter(({ type, id }) => type === 'action' || !related || related[type]?.includes(id));
}

/**
 * The domains of missing actions whose integrations are not set up in the hub.
 *
 * @throws HubError
 */
export async function notSetUp(
  { components }: HubClient,
  missing: readonly Reference[],
): Promise<ReadonlySet<string>> {
  const domains = missing.filter(({ type }) => type === 'action').map(({ id }) => domainOf(id));
  const absent = new Set<string>();
  for (const domain of new Set(domains)) if (!(await components.isLoaded(domain))) absent.add(domain);
  return absent;
}
