import { objectName } from './fields';
import type { Schema } from './schema';

/**
 * References to Secrets in the namespace of the resource, as schemas and as entries of the dependency index.
 */

export const secretName = objectName('Name of the Secret, in the namespace of this resource.');

export const secretKey = objectName('Key inside the Secret.');

/** A reference `{name, key}` with a default key. */
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

/** References to the Secrets with the given names; undefined names are skipped. */
export function secretReferences(...names: readonly (string | undefined)[]) {
  return names.filter((name) => name !== undefined).map((name) => ({ kind: 'Secret', name }));
}
