import {
  CONFIG_ENTITY_KINDS,
  type ConfigEntityKind,
  OWN_FILES,
} from '../../operator/client/connection/config-entity';

/** The files that the API of the hub writes, and the kind of the objects in each. */
export const KINDS: Readonly<Record<string, ConfigEntityKind>> = Object.fromEntries(
  CONFIG_ENTITY_KINDS.map((kind) => [OWN_FILES[kind], kind]),
);
