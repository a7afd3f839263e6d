import type { Schema } from './schema';

/** Fields of the entries in the hub's registries: floors, labels, areas. */

/** The hub would take a blank name, and make an entry with an empty id of it. */
export const entryName = { type: 'string', pattern: '\\S', maxLength: 255 } as const satisfies Schema;

export const aliases = {
  type: 'array',
  description: 'Other names, for voice assistants. Default: none.',
  items: { type: 'string', minLength: 1, maxLength: 255 },
  maxItems: 64,
  'x-kubernetes-list-type': 'set',
} as const satisfies Schema;
