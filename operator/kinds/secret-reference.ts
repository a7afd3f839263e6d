import { objectName } from './fields';
import type { Schema } from './schema';

/** References to Secrets in the namespace of the resource, as schemas and for the dependency index. */

export const secretName = objectName('Name of the Secret, in the namespace of this resource.');

export const secretKey = objectName('Key inside the Secret.');

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
