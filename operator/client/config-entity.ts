/** The domains that the hub keeps in a file of its own: `automations.yaml`, `scenes.yaml`, `scripts.yaml`. */
export const CONFIG_ENTITY_KINDS = ['automation', 'scene', 'script'] as const;

export type ConfigEntityKind = (typeof CONFIG_ENTITY_KINDS)[number];

/** A definition of an automation, scene or script with the hub's own keys, without `id`. */
export type EntityPayload = Readonly<Record<string, unknown>>;
