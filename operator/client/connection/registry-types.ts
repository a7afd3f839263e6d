/** The registries of the hub. The names of their commands are `config/<type>_registry/…`. */
export const configRegistryTypes = ['floor', 'label', 'area'] as const;

/**
 * The collections that an integration of the hub manages. They have the commands of a registry, with the
 * names `<type>/…`.
 */
export const collectionTypes = [
  'zone',
  'input_boolean',
  'input_button',
  'input_number',
  'input_text',
  'input_select',
  'input_datetime',
  'counter',
  'timer',
  'schedule',
  'person',
] as const;

export const registryTypes = [...configRegistryTypes, ...collectionTypes] as const;

export type ConfigRegistryType = (typeof configRegistryTypes)[number];
export type CollectionType = (typeof collectionTypes)[number];
export type RegistryType = ConfigRegistryType | CollectionType;

/** The registries whose entries are created by integrations and whose settings the operator changes. */
export type SettingsType = 'entity' | 'device';

/** Pages of the hub that sort their entries into categories, each of its own ones. */
export const categoryScopes = ['automation', 'scene', 'script', 'helpers'] as const;
export type CategoryScope = (typeof categoryScopes)[number];

/** The first part of the names of the commands of registries and collections. */
export type RegistryPrefix = `config/${ConfigRegistryType}_registry` | CollectionType;

/**
 * A message of `<type>/subscribe`, with the id in `<type>_id`. The first message has all entries as `added`.
 */
export type CollectionChanges = readonly ({
  readonly change_type: 'added' | 'updated' | 'removed';
} & Readonly<Partial<Record<`${CollectionType}_id`, string>>>)[];
