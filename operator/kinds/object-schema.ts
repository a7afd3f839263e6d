import { text } from './fields';
import { API_GROUP, API_VERSION } from './group';
import type { KindDefinition } from './kind';
import { type Schema, serverDefaults, withListTypes } from './schema';

/** The schema of the whole object, as the API server enforces it. */
export function objectSchema({ description, spec, status, rules }: KindDefinition) {
  return {
    type: 'object',
    description,
    properties: {
      apiVersion: text(`Always ${API_GROUP}/${API_VERSION}.`),
      kind: text('The kind of this resource.'),
      metadata,
      spec: withListTypes(serverDefaults(spec)),
      status: withListTypes<Schema>(status),
    },
    required: ['spec'],
    ...(rules ? { 'x-kubernetes-validations': rules } : {}),
  };
}

// The API server knows the schema of metadata. The name is declared so that a CEL rule may refer to it.
const metadata = { type: 'object', properties: { name: { type: 'string' } } };
