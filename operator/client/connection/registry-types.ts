/** The registries of the hub. Their commands are `config/<type>_registry/…`. */
export const configRegistryTypes = ['floor', 'label', 'area'] as const;

/** The collections that an integration of the hub keeps, with the same commands as a registry, `<type>/…`. */
export const collectionTypes = ['zone'] as const;

export const registryTypes = [...configRegistryTypes, ...collectionTypes] as const;

export type ConfigRegistryType = (typeof configRegistryTypes)[number];
export type CollectionType = (typeof collectionTypes)[number];
export type RegistryType = ConfigRegistryType | CollectionType;

/** The registries whose entries integrations make, and whose settings the operator changes. */
export type SettingsType = 'entity' | 'device';

/** The first part of the names of these commands. */
export type RegistryPrefix = `config/${ConfigRegistryType}_registry` | CollectionType;

/** A message of `<type>/subscribe`, with the id in `<type>_id`; the first has all entries as `added`. */
export type CollectionChanges = readonly ({
  readonly change_type: 'added' | 'updated' | 'removed';
} & Readonly<Partial<Record<`${CollectionType}_id`, string>>>)[];
