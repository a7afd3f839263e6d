import { domainOf } from '../../operator/client/connection/entity-id';
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

/** Whether this is the entity of the object with this id. */
export const isOwn = (
  { domain, integration }: OwnEntity,
  id: string,
  entity: Pick<EntityRecord, 'entityId' | 'integration' | 'uniqueId'>,
): boolean =>
  entity.uniqueId === id && entity.integration === integration && domainOf(entity.entityId) === domain;
