import type { Schema } from './schema';

/** References to Secrets in the namespace of the resource, as schemas and for the dependency index. */

export const secretName = {
  type: 'string',
  description: 'Name of the Secret, in the namespace of this resource.',
  minLength: 1,
  maxLength: 253,
} as const satisfies Schema;

export const secretKey = {
  type: 'string',
  description: 'Key inside the Secret.',
  minLength: 1,
  maxLength: 253,
} as const satisfies Schema;

/** `{name, key}`, with a default key. */
export function secretKeyRef<const Key extends string>(description: string, key: Key) {
  return {
    type: 'object',
    description,
    properties: {
      name: secretName,
      key: { ...secretKey, description: `Key inside the Secret. Default \`${key}\`.`, default: key },
    },
    required: ['name'],
  } as const satisfies Schema;
}

/** References to the Secrets among `names`. */
export function secretReferences(...names: readonly (string | undefined)[]) {
  return names.filter((name) => name !== undefined).map((name) => ({ kind: 'Secret', name }));
}
