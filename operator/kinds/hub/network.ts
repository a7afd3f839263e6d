import type { Schema } from '../schema';

/** Schemas that `service`, `ingress`, `gateway` and `networkPolicy` share. */

export const annotations = {
  type: 'object',
  additionalProperties: { type: 'string' },
  maxProperties: 64,
} as const satisfies Schema;

export const hostPattern = '^(\\*\\.)?[a-z0-9]([a-z0-9-]*[a-z0-9])?(\\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$';

export const cidr = {
  type: 'string',
  pattern: '^[0-9A-Fa-f:.]+/[0-9]{1,3}$',
  maxLength: 64,
} as const satisfies Schema;

export const port = {
  type: 'integer',
  format: 'int32',
  minimum: 1,
  maximum: 65535,
} as const satisfies Schema;

/**
 * The presence of the block enables it. `enabled: false` disables it without removing the other fields of the
 * block.
 */
export const enabledByPresence = { type: 'boolean', default: true } as const satisfies Schema;
