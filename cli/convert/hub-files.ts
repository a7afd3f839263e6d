import {
  CONFIG_ENTITY_KINDS,
  type ConfigEntityKind,
  OWN_FILES,
} from '../../operator/client/connection/config-entity';

/** The files that the hub's API writes, each with the kind of its objects. */
export const KINDS: Readonly<Record<string, ConfigEntityKind>> = Object.fromEntries(
  CONFIG_ENTITY_KINDS.map((kind) => [OWN_FILES[kind], kind]),
);
