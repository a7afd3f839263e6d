import { categoryScopes, configRegistryTypes } from '../../operator/client/connection/registry-types';
import { isList, type Setting, type Settings } from '../../operator/client/registries/settings';
import type { CustomResource } from '../../operator/kinds/resource';
import type {
  Borrower,
  BorrowedType,
  SettingsKind,
  SettingsResource,
} from '../../operator/sync/registry/borrowed/borrowed-type';
import { resolveCategories } from '../../operator/sync/registry/borrowed/categories';
import {
  categoryType,
  declaredSettings,
  specOfSettings,
} from '../../operator/sync/registry/borrowed/declared';
import { settingsDiff } from '../../operator/sync/registry/borrowed/previous';
import { CommandError } from '../command-error';
import { referencesOf } from '../diff/registry-change';
import type { StoredObjects } from '../diff/stored-objects';
import { findEntry } from '../settings/borrowed';
import { findOwnEntity, ownTypeOf } from '../settings/own-entity';

type Fields = Readonly<Record<string, unknown>>;

/**
 * The settings of an entity or a device that differ in the hub. From labels and aliases, which are merged
 * with those in the hub, the ones that the hub no longer has are removed.
 */
export async function pulledSettings(
  type: BorrowedType,
  given: CustomResource,
  others: readonly CustomResource[],
  stored: StoredObjects,
): Promise<Fields> {
  const resource = given as unknown as Borrower;
  const found = await findEntry(type, resource, others, stored);
  if ('why' in found) throw new CommandError(`${resource.kind} ${resource.metadata.name}: ${found.why}`);
  return pulledFrom(type, resource, found.record.settings, others, stored);
}

/**
 * Settings of the entity that a resource makes, as {@link pulledSettings}.
 *
 * @param id of the object in the hub
 */
export async function pulledOwnEntity(
  given: CustomResource,
  id: string,
  others: readonly CustomResource[],
  stored: StoredObjects,
): Promise<Fields> {
  const own = ownTypeOf(given.kind);
  const resource = given as SettingsResource;
  if (!own || resource.spec['entity'] === undefined) return {};
  const found = await findOwnEntity(own, given, id, stored.client);
  return found ? pulledFrom(own.type, resource, found.record.settings, others, stored) : {};
}

async function pulledFrom(
  type: Pick<SettingsKind, 'fields'>,
  { spec }: SettingsResource,
  settings: Settings,
  others: readonly CustomResource[],
  stored: StoredObjects,
): Promise<Fields> {
  const references = await referencesOf(type, { spec }, others, stored);
  // If an area, label or category does not exist, its id is unknown, and the value in the hub is used.
  const ids = 'ids' in references ? references.ids : {};
  const categories = await resolveCategories(type, spec, (scope) => stored.categories(scope));
  const declared = declaredSettings(type, spec, { ...ids, ...categories.ids });
  const changed = settingsDiff(settings, declared, {}).map(({ field }) => type.fields[field]?.at ?? field);
  const values = Object.fromEntries(
    Object.entries(declared).map(([name, value]): [string, Setting] => [name, inHub(settings, name, value)]),
  );
  const written = specOfSettings(type, values, await namesIn(stored));
  const names = new Set(changed.map((path) => path.split('.')[0]!));
  return Object.fromEntries([...names].map((name) => [name, written[name]]));
}

/** Names of areas, labels and categories by type and id. */
async function namesIn(stored: StoredObjects): Promise<(type: string, id: string) => string | undefined> {
  const names = new Map<string, ReadonlyMap<string, string>>();
  for (const each of configRegistryTypes) {
    const entries = await stored.entries(each);
    names.set(each, new Map([...entries].map(([id, { name }]) => [id, name])));
  }
  for (const scope of categoryScopes) names.set(categoryType(scope), await stored.categories(scope));
  return (type, id) => names.get(type)?.get(id);
}

function inHub(settings: Settings, name: string, declared: Setting): Setting {
  const value = settings[name] ?? null;
  if (!isList(value) || !isList(declared)) return value;
  return declared.filter((item) => value.includes(item));
}
