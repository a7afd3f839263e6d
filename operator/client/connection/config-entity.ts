/** The domains whose objects the hub stores in `automations.yaml`, `scenes.yaml` and `scripts.yaml`. */
export const CONFIG_ENTITY_KINDS = ['automation', 'scene', 'script'] as const;

export type ConfigEntityKind = (typeof CONFIG_ENTITY_KINDS)[number];

export const isConfigEntityKind = (domain: string): domain is ConfigEntityKind =>
  CONFIG_ENTITY_KINDS.some((kind) => kind === domain);

/** A definition of an automation, scene or script with the hub's own keys, without `id`. */
export type EntityPayload = Readonly<Record<string, unknown>>;
