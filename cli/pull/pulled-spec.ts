import type { RegistryEntries } from '../../operator/client/registries/registry';
import { configRegistryTypes, type RegistryType } from '../../operator/client/connection/registry-types';
import { blueprint, integration } from '../../operator/kinds';
import type { CustomResource } from '../../operator/kinds/resource';
import { automationSpecOf, sceneSpecOf, scriptSpecOf } from '../../operator/sync/config-entities/spec-of';
import type { Child } from '../../operator/sync/objects/child';
import { desiredEntry, entryDiff, entrySpecOf, lookedUpNames } from '../../operator/sync/registry/desired';
import {
  type EntryResource,
  type EntryType,
  entryTypeOf,
  isOfType,
} from '../../operator/sync/registry/entry-types';
import { locate, resolveReferences } from '../../operator/sync/registry/locate-entry';
import { CommandError } from '../command-error';
import { configEntityChange, entityTypeOf } from '../diff/config-entity-change';
import { integrationChange } from '../diff/integration-change';
import type { StoredObjects } from '../diff/stored-objects';
import { borrowedTypeOf } from '../settings/borrowed';
import { pulledOwnEntity, pulledSettings } from './pulled-settings';

type Fields = Readonly<Record<string, unknown>>;

/** The fields of a spec that differ in the hub, with the hub's values; undefined removes the field. */
export type PulledFields = Readonly<Record<string, unknown>>;

/**
 * The fields of a resource that were changed in its hub, determined with the operator's own comparison.
 *
 * @param resources all resources of the same hub
 * @throws CommandError the hub has no such object, or its API does not show it
 */
export async function pulledFields(
  resource: CustomResource,
  resources: readonly CustomResource[],
  stored: StoredObjects,
): Promise<PulledFields> {
  const entityType = entityTypeOf(resource.kind);
  if (entityType) {
    const child = resource as Child;
    const id = entityType.id(child);
    const found = await stored.entity(entityType.type, id);
    if (!found) throw missing(`${entityType.type} ${id}`);
    // With an empty status, all differences are found, whether or not the operator would correct them.
    const asked = { ...child, status: {} };
    const { fields } = await configEntityChange(entityType, asked, stored);
    const specs = { automation: automationSpecOf, scene: sceneSpecOf, script: scriptSpecOf };
    const inHub = specs[entityType.type](found, id);
    const names = fields.map(({ field }) => camelCase(field));
    return { ...pick(inHub, names), ...(await pulledOwnEntity(resource, id, resources, stored)) };
  }
  const entryType = entryTypeOf(resource);
  if (entryType) return pulledEntry(entryType, resource as EntryResource, resources, stored);
  const borrowedType = borrowedTypeOf(resource.kind);
  if (borrowedType) return pulledSettings(borrowedType, resource, resources, stored);
  if (resource.kind === integration.kind) return pulledIntegration(resource, resources, stored);
  if (resource.kind === blueprint.kind)
    throw new CommandError(
      'the hub never shows the text of a blueprint, so it cannot be pulled: copy its file from /config/blueprints',
    );
  throw new CommandError(`a ${resource.kind} is not edited in the hub: there is nothing to pull`);
}

const missing = (object: string): CommandError =>
  new CommandError(`the hub has no ${object}: it was removed there, or not made yet`);

/** Converts a name of the hub's YAML to that of the spec: `max_exceeded` becomes `maxExceeded`. */
const camelCase = (field: string): string =>
  field.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

const pick = (fields: Fields, names: readonly string[]): PulledFields =>
  Object.fromEntries(names.map((name) => [name, fields[name]]));

async function pulledEntry(
  entryType: EntryType,
  resource: EntryResource,
  resources: readonly CustomResource[],
  stored: StoredObjects,
): Promise<PulledFields> {
  const registries = new Map<RegistryType, RegistryEntries>();
  for (const type of [entryType.type, ...configRegistryTypes])
    registries.set(type, await stored.entries(type));
  const entries = registries.get(entryType.type)!;
  const others = (resources as readonly EntryResource[]).filter(
    (each) =>
      each.kind === resource.kind &&
      each.metadata.name !== resource.metadata.name &&
      isOfType(entryType, each.spec),
  );
  const references = await resolveReferences(entryType, resource, {
    client: stored.client,
    entries: ({ type }) => Promise.resolve(registries.get(type)!),
    resources: ({ definition }) =>
      resources.filter(({ kind }) => kind === definition.kind) as unknown as readonly EntryResource[],
  });
  const ids = 'ids' in references ? references.ids : {};
  const desired = desiredEntry(entryType, resource, ids);
  const located = locate(entryType, resource, entries, others, { desired: desired.fields });
  const id = 'id' in located ? located.id : undefined;
  const record = id === undefined ? undefined : entries.get(id);
  if (id === undefined || !record) throw missing(`${entryType.type} “${resource.spec.name}”`);
  const changed = new Set(entryDiff(entryType, record, desired).map(({ field }) => field));
  const found = await lookedUpNames(entryType, stored.client);
  const inHub = entrySpecOf(
    entryType,
    record,
    (type, value) => found.get(type)?.get(value) ?? registries.get(type as RegistryType)?.get(value)?.name,
  );
  // A setting of a helper is a part of an object of the spec, which is read as a whole.
  const names = Object.entries({ name: { name: 'name' }, ...entryType.fields })
    .filter(([, field]) => changed.has(field.name))
    .map(([path]) => path.split('.')[0]!);
  return { ...pick(inHub, [...new Set(names)]), ...(await pulledOwnEntity(resource, id, resources, stored)) };
}

async function pulledIntegration(
  resource: CustomResource,
  resources: readonly CustomResource[],
  stored: StoredObjects,
): Promise<PulledFields> {
  const { action, fields } = await integrationChange(resource, undefined, resources, stored);
  if (action === 'create') throw missing('such integration');
  return Object.fromEntries(fields.map(({ field, actual }) => [field, actual]));
}
