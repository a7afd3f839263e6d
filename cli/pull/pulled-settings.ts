import { type RegistryType, registryTypes } from '../../operator/client/connection/registry-types';
import type { RegistryEntries } from '../../operator/client/registries/registry';
import { isList, type Setting, type Settings } from '../../operator/client/registries/settings';
import type { CustomResource } from '../../operator/kinds/resource';
import type { Borrower, BorrowedType } from '../../operator/sync/registry/borrowed/borrowed-type';
import { declaredSettings, specOfSettings } from '../../operator/sync/registry/borrowed/declared';
import { settingsDiff } from '../../operator/sync/registry/borrowed/previous';
import { CommandError } from '../command-error';
import { referencesOf } from '../diff/registry-change';
import type { StoredObjects } from '../diff/stored-objects';
import { findEntry } from '../settings/borrowed';

/**
 * The settings of an entity or a device that differ in the hub. From labels and aliases, which are merged
 * with those in the hub, the ones that the hub no longer has are removed.
 */
export async function pulledSettings(
  type: BorrowedType,
  given: CustomResource,
  others: readonly CustomResource[],
  stored: StoredObjects,
): Promise<Readonly<Record<string, unknown>>> {
  const resource = given as unknown as Borrower;
  const { spec } = resource;
  const found = await findEntry(type, resource, others, stored);
  if ('why' in found) throw new CommandError(`${resource.kind} ${resource.metadata.name}: ${found.why}`);
  const { settings } = found.record;
  const references = await referencesOf(type, resource, others, stored);
  // If an area or label does not exist, its id is unknown, and the value in the hub is used.
  const ids = 'ids' in references ? references.ids : {};
  const declared = declaredSettings(type, spec, ids);
  const changed = settingsDiff(settings, declared, {}).map(({ field }) => field);
  const values = Object.fromEntries(
    Object.entries(declared).map(([name, value]): [string, Setting] => [name, inHub(settings, name, value)]),
  );
  const registries = new Map<RegistryType, RegistryEntries>();
  for (const each of registryTypes) registries.set(each, await stored.entries(each));
  const written = specOfSettings(
    type,
    values,
    (each, id) => registries.get(each as RegistryType)?.get(id)?.name,
  );
  const names = new Set(changed.map((path) => path.split('.')[0]!));
  return Object.fromEntries([...names].map((name) => [name, written[name]]));
}

function inHub(settings: Settings, name: string, declared: Setting): Setting {
  const value = settings[name] ?? null;
  if (!isList(value) || !isList(declared)) return value;
  return declared.filter((item) => value.includes(item));
}
