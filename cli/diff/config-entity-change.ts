import type { CustomResource } from '../../operator/kinds/resource';
import { automations } from '../../operator/sync/config-entities/automation';
import { diff, hashOf } from '../../operator/sync/config-entities/diff';
import type {
  ConfigEntitySpec,
  EntityType,
  EntityWork,
} from '../../operator/sync/config-entities/entity-type';
import { FileReadSchedule } from '../../operator/sync/config-entities/file-read-schedule';
import type { Different } from '../../operator/sync/config-entities/observation';
import { observe } from '../../operator/sync/config-entities/observe';
import { isAccepted } from '../../operator/sync/config-entities/ownership';
import { scenes } from '../../operator/sync/config-entities/scene';
import { scripts } from '../../operator/sync/config-entities/script';
import type { Child } from '../../operator/sync/objects/child';
import { isDriftLeft } from '../../operator/sync/objects/drift-policy';
import type { FieldDiff } from '../../operator/sync/objects/field-diff';
import { recordedId } from '../../operator/sync/objects/ownership';
import { shouldDelete } from '../../operator/sync/objects/removal';
import { silentLog } from '../hub/silent-log';
import { DRIFT_IS_LEFT, type HubChange } from './hub-change';
import type { StoredObjects } from './stored-objects';

type AnyEntityType = EntityType<Child, ConfigEntitySpec>;

const ENTITY_TYPES = [automations, scenes, scripts] as unknown as readonly AnyEntityType[];

export const entityTypeOf = (kind: string): AnyEntityType | undefined =>
  ENTITY_TYPES.find(({ definition }) => definition.kind === kind);

/** The write that the operator would send for an automation, scene or script. */
export async function configEntityChange(
  entityType: AnyEntityType,
  resource: CustomResource,
  stored: StoredObjects,
): Promise<HubChange> {
  const child = resource as Child;
  const invalid = entityType.validate?.(entityType.spec(child));
  if (invalid !== undefined) return { action: 'refused', fields: [], notes: [invalid] };
  const work = workOn(entityType, child, stored);
  const { clock } = stored;
  const observation = await observe(entityType, work, new FileReadSchedule(clock), clock);
  const notes = [...formerObject(entityType, child, work.id), ...switchNotes(child)];
  if (!('differences' in observation)) return { action: 'none', fields: [], notes };
  if (isDriftLeft(child, isAccepted(entityType, work)))
    return { action: 'none', fields: [], notes: [...notes, DRIFT_IS_LEFT] };
  if (observation.type === 'Absent') return { action: 'create', fields: [], notes };
  return { action: 'update', fields: await changedFields(entityType, work, observation, stored), notes };
}

/**
 * Reproduces the operator's decision after a restart: status is known, everything else is requested from the
 * hub.
 */
function workOn(entityType: AnyEntityType, resource: Child, { client, clock }: StoredObjects): EntityWork {
  const spec = entityType.spec(resource);
  const payload = entityType.payload(spec);
  const id = entityType.id(resource);
  return {
    resource,
    client,
    context: { signal: new AbortController().signal, log: silentLog, forced: true, dryRun: true },
    cached: { observed: { source: 'none', at: clock.monotonic() } },
    spec,
    id,
    payload,
    hash: hashOf(entityType, id, payload),
    volume: undefined,
  };
}

/** The changed fields in the form of the file, since the hub returns blueprints expanded. */
async function changedFields(
  entityType: AnyEntityType,
  { id, payload }: EntityWork,
  { differences }: Different,
  stored: StoredObjects,
): Promise<readonly FieldDiff[]> {
  const inFile = diff(entityType, id, (await stored.entity(entityType.type, id)) ?? {}, payload);
  return inFile.length > 0 ? inFile : differences;
}

/** Notes about the former object: with a changed id, another object is created. */
function formerObject(entityType: AnyEntityType, resource: Child, id: string): readonly string[] {
  const { type } = entityType;
  const former = recordedId(entityType, resource);
  if (former === undefined || former === id) return [];
  return [
    shouldDelete(resource)
      ? `The ${type} ${former} is removed: the id is ${id} now.`
      : `The ${type} ${former} stays in the hub beside ${id}.`,
  ];
}

function switchNotes({ spec, status }: Child): readonly string[] {
  const { enabled } = spec as { readonly enabled?: boolean };
  if (enabled === false && status?.['enabled'] !== false) return ['It is switched off.'];
  return enabled !== false && status?.['enabled'] === false ? ['It is switched on.'] : [];
}
