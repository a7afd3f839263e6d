import type { ConfigEntityKind } from '../../operator/client/connection/config-entity';

/** The files that the API of the hub writes, and the kind of the objects in each. */
export const KINDS: Readonly<Record<string, ConfigEntityKind>> = {
  'automations.yaml': 'automation',
  'scenes.yaml': 'scene',
  'scripts.yaml': 'script',
};
