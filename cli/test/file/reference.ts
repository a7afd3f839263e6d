import { type JsonSchema, testFileSchema } from './schema';

/** The page of docs/reference about test files, generated from their schema. */
export function testFilePage(): string {
  return [
    '# Test files',
    'A file that ends in `.hubtest.yaml` has tests for `kubectl hub test`. It is YAML 1.2: `on` and `off` are words. ' +
      'Editors complete and check it by `dist/schemas/hubtest.json`.',
    ...tablesOf('The file', testFileSchema, new Set()),
  ].join('\n\n');
}

/**
 * A table with the fields of an object under a heading, followed by tables for the objects in it.
 *
 * @param shown objects that have a table already: a case has some fields of the file
 */
function tablesOf(title: string, schema: JsonSchema, shown: Set<JsonSchema>): string[] {
  const { properties = {}, required = [] } = schema;
  const fields = Object.entries(properties);
  if (fields.length === 0 || shown.has(schema)) return [];
  shown.add(schema);
  const rows = fields.map(([name, field]) => {
    const needed = required.includes(name) ? ' **Required.**' : '';
    return `| \`${name}\` | ${typeOf(field)} | ${cell(field.description ?? '')}${needed} |`;
  });
  return [
    `## ${title}`,
    ...(schema.description === undefined ? [] : [schema.description]),
    ['| Field | Type | Meaning |', '|---|---|---|', ...rows].join('\n'),
    ...fields.flatMap(([name, field]) => tablesOf(`\`${titleOf(name, field)}\``, innermost(field), shown)),
  ];
}

/** The schema of the items of a list, or of the values of a map. */
function innermost(schema: JsonSchema): JsonSchema {
  const { items, additionalProperties } = schema;
  if (items) return innermost(items);
  return typeof additionalProperties === 'object' ? innermost(additionalProperties) : schema;
}

function titleOf(name: string, { items, additionalProperties }: JsonSchema): string {
  if (items) return `${name}[]`;
  return typeof additionalProperties === 'object' ? `${name}.<name>` : name;
}

const NOUNS: Readonly<Record<string, string>> = {
  string: 'text',
  array: 'list',
  integer: 'whole number',
  null: 'empty',
};

function typeOf({ type, items, additionalProperties, enum: choices }: JsonSchema): string {
  if (choices) return choices.map((choice) => `\`${choice}\``).join(' or ');
  if (type === 'array' && items) return `list of ${typeOf(items)}`;
  if (typeof additionalProperties === 'object') return `map of ${typeOf(additionalProperties)}`;
  return [type ?? 'any value']
    .flat()
    .map((each) => NOUNS[each] ?? each)
    .join(' or ');
}

const cell = (text: string): string => text.replaceAll('|', '\\|');
