import type { RegistryEntity } from '../../client/connection/api-types';
import { getEntityState } from '../../client/config-entities/states';
import { HubFailed, HubRejected, HubTooLarge } from '../../client/connection/errors';
import type { HubClient } from '../../client/hub-client';
import { fewNames } from '../../base/few-names';
import { undefinedIf } from '../../base/undefined-if';
import { DEPENDENCY_REQUEUE } from '../../base/limits';
import type { EventSpec } from '../../runtime/event-spec';
import { type Outcome, stalled, waiting } from '../../runtime/outcome';
import type { EntryResource, EntryType } from './entry-type';
import { valueAt } from './spec-path';

/**
 * The outcome for an entry whose entity is missing, disabled, without a state, of the hub's YAML, or has
 * another id than the resource describes. The hub reports success for a write in each of these cases.
 *
 * @returns undefined when the entity is as described
 */
export async function entityProblem(
  { type, component, identity }: EntryType,
  resource: EntryResource,
  entity: RegistryEntity | undefined,
  { rest, entityRegistry }: HubClient,
): Promise<Outcome | undefined> {
  if (!entity)
    return waiting(
      'EntityNotLoaded',
      `The hub has the ${type}, and no entity of it: it makes one at its next start. Restart the hub.`,
      DEPENDENCY_REQUEUE,
    );
  const { entity_id: entityId, disabled_by: disabledBy } = entity;
  if (disabledBy !== null && disabledBy !== undefined)
    return stalled(
      'EntityDisabled',
      `The hub has the ${type}, and its entity ${entityId} is disabled: enable it in the settings of the entity, and restart the hub.`,
    );
  const state = await getEntityState(rest, entityId);
  if (!state || state.attributes['restored'] === true)
    return waiting(
      'EntityNotLoaded',
      `The hub has the ${type}, and its entity ${entityId} has no state: the hub loads it at its next start. Restart the hub, and read its log if that does not help.`,
      DEPENDENCY_REQUEUE,
    );
  if (!identity.isName && state.attributes['editable'] === false) return ofYaml(type, entityId);
  const desired = `${component}.${identity.of(resource)}`;
  const isOtherId = !identity.isName && !resource.status?.['adopted'] && entityId !== desired;
  if (!isOtherId || !(await entityRegistry.get(desired))) return undefined;
  return stalled(
    'EntityIdTaken',
    `The entity of the ${type} is ${entityId}, since another entity has the id ${desired}: rename that one in the hub, and then this one to ${desired} or to any other id.`,
  );
}

/**
 * The entities in a spec that the hub does not have: without an entry in the registry, and without a state.
 */
export async function missingEntities(
  { fields }: EntryType,
  { spec }: EntryResource,
  { entityRegistry, rest }: HubClient,
): Promise<readonly string[]> {
  const named = Object.entries(fields)
    .filter(([, { ofEntities }]) => ofEntities)
    .flatMap(([path]) => (valueAt(spec, path) as readonly string[] | undefined) ?? []);
  if (named.length === 0) return [];
  const missing: string[] = [];
  for (const id of await entityRegistry.withoutEntry([...new Set(named)]))
    if (!(await getEntityState(rest, id))) missing.push(id);
  return missing;
}

/** The outcome if the hub's YAML has an object with the same id, which the hub loads first. */
function ofYaml(type: string, entityId: string): Outcome {
  const message =
    `The hub has the ${type}, and its entity ${entityId} belongs to one with the same id in the hub’s YAML: ` +
    `remove that one from the section ${type} of the configuration, and restart the hub.`;
  return waiting('NameConflict', message, DEPENDENCY_REQUEUE);
}

/**
 * The outcome if the entity of an entry has a value that the desired entry does not allow. The hub would
 * store such an update, answer with an error that quotes the value, and not load the entity at its next
 * start.
 *
 * @returns undefined when the entry can be updated
 */
export async function valueConflict(
  entryType: EntryType,
  resource: EntryResource,
  id: string,
  { rest, entityRegistry }: HubClient,
): Promise<Outcome | undefined> {
  const { component } = entryType;
  if (!component || !entryType.valueProblem) return undefined;
  const entity = await entityRegistry.find(component, id);
  const state = entity && (await getEntityState(rest, entity.entity_id));
  if (!entity || !state || NO_VALUES.includes(state.state)) return undefined;
  const problem = entryType.valueProblem(resource, state.state);
  if (problem === undefined) return undefined;
  const message =
    `The ${entryType.type} is not written: the present value of ${entity.entity_id} ${problem}. The hub would store it, and not load the entity at its ` +
    'next start. Change the value in the hub, or the spec.';
  return stalled('RejectedByHub', message, { after: DEPENDENCY_REQUEUE });
}

/** States of entities without a value. */
const NO_VALUES: readonly string[] = ['unknown', 'unavailable'];

/** Types of objects that may use an entity, as the hub's search names them. */
const USERS = ['automation', 'script', 'scene', 'group', 'person'] as const;
const MOST_USERS = 10;

/**
 * The event about the removal of an entry whose entity others use. Empty if nothing uses it, or if the hub
 * does not show it: a removal never fails because of an event.
 */
export async function removedInUse(
  { type, component }: EntryType,
  id: string,
  { entityRegistry, connection }: HubClient,
): Promise<readonly EventSpec[]> {
  if (component === undefined) return [];
  const entity = await undefinedIf(isNotShown, entityRegistry.find(component, id));
  if (!entity) return [];
  const related = await undefinedIf(
    isNotShown,
    connection.command('search/related', { item_type: 'entity', item_id: entity.entity_id }),
  );
  const users = USERS.flatMap((each) => related?.[each] ?? []);
  if (users.length === 0) return [];
  const message = `The ${type} ${entity.entity_id} is removed from the hub, and still used by ${fewNames(users.toSorted(), MOST_USERS)}.`;
  return [{ type: 'Warning', reason: 'RemovedInUse', message }];
}

/** Reports whether the hub answers, and does not show its entities or their users. */
const isNotShown = (error: unknown): boolean =>
  error instanceof HubRejected || error instanceof HubFailed || error instanceof HubTooLarge;
