import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { editorSchema } from '../cli/test/file/schema';
import { kinds } from '../operator/kinds';
import { API_GROUP, API_VERSION, GROUP_VERSION } from '../operator/kinds/group';
import type { KindDefinition } from '../operator/kinds/kind';
import { objectSchema } from '../operator/kinds/object-schema';
import type { Schema } from '../operator/kinds/schema';

const DRAFT = 'http://json-schema.org/draft-07/schema#';

/**
 * Writes the schemas of the kinds for editors and kubeconform: `<group>/<kind>_<version>.json`, the layout of
 * the CRDs-catalog; `all.json` for files with several kinds; and `hubtest.json` for files of tests.
 */
export function writeJsonSchemas(folder: string): void {
  mkdirSync(join(folder, API_GROUP), { recursive: true });
  const write = (file: string, schema: object) =>
    writeFileSync(join(folder, file), `${JSON.stringify({ $schema: DRAFT, ...schema }, null, 2)}\n`);
  for (const definition of kinds) write(fileOf(definition), jsonSchema(definition));
  write('hubtest.json', editorSchema);
  // A file may contain resources of other kinds, such as a Secret, which the schema does not check.
  write('all.json', {
    allOf: kinds.map((definition) => ({
      if: {
        properties: { kind: { const: definition.kind }, apiVersion: { const: GROUP_VERSION } },
        required: ['apiVersion', 'kind'],
      },
      then: { $ref: fileOf(definition) },
    })),
  });
}

const fileOf = ({ kind }: KindDefinition): string => `${API_GROUP}/${kind.toLowerCase()}_${API_VERSION}.json`;

/**
 * Returns the schema of the CRD without the parts that only the API server understands: rules (CEL), and how
 * lists are merged.
 */
function jsonSchema(definition: KindDefinition): object {
  const { properties, ...schema } = objectSchema(definition);
  return {
    ...plain(schema as Schema),
    properties: {
      apiVersion: { ...properties.apiVersion, enum: [GROUP_VERSION] },
      kind: { ...properties.kind, enum: [definition.kind] },
      metadata: { type: 'object' },
      spec: plain(properties.spec),
      status: plain(properties.status),
    },
    required: ['apiVersion', 'kind', 'metadata', 'spec'],
    additionalProperties: false,
  };
}

/**
 * JSON Schema allows unknown fields by default. The schema forbids them, since the API server warns of them
 * or refuses them.
 */
function plain({ items, properties, additionalProperties, ...schema }: Schema): object {
  const isOpen = schema['x-kubernetes-preserve-unknown-fields'] === true;
  const own = Object.entries(schema).filter(
    ([key]) => !key.startsWith('x-kubernetes-') && key !== 'nullable',
  );
  return {
    ...Object.fromEntries(own),
    ...(schema.nullable && schema.type && { type: [schema.type, 'null'] }),
    ...(schema['x-kubernetes-int-or-string'] && { type: ['integer', 'string'] }),
    ...(items && { items: plain(items) }),
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, plain(field)])),
    }),
    ...(schema.type === 'object' &&
      !isOpen && { additionalProperties: additionalProperties ? plain(additionalProperties) : false }),
  };
}
