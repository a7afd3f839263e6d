import type { Child } from '../../operator/sync/objects/child';
import { automations } from '../../operator/sync/config-entities/automation';
import { diff, hashOf } from '../../operator/sync/config-entities/diff';
import type { ConfigEntitySpec, EntityType } from '../../operator/sync/config-entities/entity-type';
import { scenes } from '../../operator/sync/config-entities/scene';
import { scripts } from '../../operator/sync/config-entities/script';
import type { CustomResource } from '../../operator/kinds/resource';
import type { HubChange } from './hub-change';
import type { StoredObjects } from './stored-objects';

type AnyEntityType = EntityType<Child, ConfigEntitySpec>;

const ENTITY_TYPES = [automations, scenes, scripts] as unknown as readonly AnyEntityType[];

export const entityTypeOf = (kind: string): AnyEntityType | undefined =>
  ENTITY_TYPES.find(({ definition }) => definition.kind === kind);

/** The write that the sync module would make for an automation, scene or script. */
export async function configEntityChange(
  entityType: AnyEntityType,
  resource: CustomResource,
  stored: StoredObjects,
): Promise<HubChange> {
  const child = resource as Child;
  const spec = entityType.spec(child);
  const invalid = entityType.validate?.(spec);
  if (invalid !== undefined) return { action: 'refused', fields: [], notes: [invalid] };
  const id = entityType.id(child);
  const payload = entityType.payload(spec);
  const actual = await stored.entity(entityType.type, id);
  const notes = [...formerObject(entityType, child, id), ...switchNotes(child)];
  if (!actual) return { action: 'create', fields: [], notes };
  const fields = diff(entityType, id, actual, payload);
  if (fields.length === 0) return { action: 'none', fields, notes };
  const wasAccepted = child.status?.['appliedHash'] === hashOf(entityType, id, payload);
  if (wasAccepted && spec.driftPolicy === 'Warn')
    return {
      action: 'none',
      fields: [],
      notes: [...notes, 'It was changed in the hub, and driftPolicy is Warn: the change is kept.'],
    };
  return { action: 'update', fields, notes };
}

/** A changed id makes another object; the former one goes if the operator created it. */
function formerObject({ idField, type }: AnyEntityType, { status }: Child, id: string): readonly string[] {
  const former = status?.[idField];
  if (typeof former !== 'string' || former === id) return [];
  return [
    status?.['adopted'] === true
      ? `The ${type} ${former} stays in the hub: it was adopted.`
      : `The ${type} ${former} is removed: the id is ${id} now.`,
  ];
}

function switchNotes({ spec, status }: Child): readonly string[] {
  const { enabled } = spec as { readonly enabled?: boolean };
  if (enabled === false && status?.['enabled'] !== false) return ['It is switched off.'];
  return enabled !== false && status?.['enabled'] === false ? ['It is switched on.'] : [];
}
