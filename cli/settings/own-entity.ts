import { domainOf } from '../../operator/client/connection/entity-id';
import type { HubClient } from '../../operator/client/hub-client';
import type { EntityRecord } from '../../operator/client/registries/entity-settings';
import { kindsByName } from '../../operator/kinds';
import type { OwnEntity } from '../../operator/kinds/kind';
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
export async function findOwnEntity({ ownEntity, type }: OwnType, id: string, client: HubClient) {
  const all = await type.registryOf(client).entries();
  const { domain, integration } = ownEntity;
  const record = [...all.all].find(
    (each) => each.uniqueId === id && each.integration === integration && domainOf(each.entityId) === domain,
  );
  return record && { record, all };
}
