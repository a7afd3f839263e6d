/** The domains whose objects the hub stores in YAML files that its API writes. */
export const CONFIG_ENTITY_KINDS = ['automation', 'scene', 'script'] as const;

export type ConfigEntityKind = (typeof CONFIG_ENTITY_KINDS)[number];

export const isConfigEntityKind = (domain: string): domain is ConfigEntityKind =>
  CONFIG_ENTITY_KINDS.some((kind) => kind === domain);

/** The files in the hub's configuration directory that its API writes. */
export const OWN_FILES: Readonly<Record<ConfigEntityKind, string>> = {
  automation: 'automations.yaml',
  scene: 'scenes.yaml',
  script: 'scripts.yaml',
};

/** A definition of an automation, scene or script with the hub's own keys, without `id`. */
export type EntityPayload = Readonly<Record<string, unknown>>;

/** Domains of blueprints. For `template`, the hub does not tell which entities use a blueprint. */
export type BlueprintDomain = 'automation' | 'script' | 'template';
