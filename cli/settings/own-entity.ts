import { domainOf } from '../../operator/client/connection/entity-id';
import type { HubClient } from '../../operator/client/hub-client';
import type { EntityRecord } from '../../operator/client/registries/entity-settings';
import { kindsByName } from '../../operator/kinds';
import { type OwnEntity, ownDomain } from '../../operator/kinds/kind';
import type { CustomResource } from '../../operator/kinds/resource';
import type { SettingsKind } from '../../operator/sync/registry/borrowed/borrowed-type';
import { entities } from '../../operator/sync/registry/borrowed/entities';
import { ownSettings } from '../../operator/sync/registry/borrowed/own-entity';

/** A kind whose resources make an entity, and the settings of that. */
interface OwnType {
  readonly ownEntity: OwnEntity;
  readonly type: SettingsKind<EntityRecord>;
}

/** Undefined: resources of this kind have no settings of an entity. */
export function ownTypeOf(kind: string): OwnType | undefined {
  const definition = kindsByName.get(kind);
  const { ownEntity } = definition ?? {};
  return ownEntity && { ownEntity, type: ownSettings({ definition: definition!, reason: entities.reason }) };
}

/**
 * The entity that a resource makes in a hub, with all entities of the hub. Undefined if the hub has none.
 *
 * @param id of the object in the hub
 */
export async function findOwnEntity(
  { ownEntity, type }: OwnType,
  resource: CustomResource,
  id: string,
  client: HubClient,
) {
  const all = await type.registryOf(client).entries();
  const record = madeEntity(ownEntity, ownDomain(ownEntity, resource), id, all.all);
  return record && { record, all };
}

/** The entity of this domain that the hub makes for the object with this id. */
export function madeEntity(
  { integrations }: OwnEntity,
  domain: string,
  id: string,
  all: Iterable<EntityRecord>,
): EntityRecord | undefined {
  // Without a copy of the list, which may have many thousands of entities.
  for (const each of all)
    if (
      each.uniqueId === id &&
      each.integration === integrations[domain] &&
      domainOf(each.entityId) === domain
    )
      return each;
  return undefined;
}
