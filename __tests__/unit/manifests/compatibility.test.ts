import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';
import { breakingChanges, type Definition } from '../../../manifests/compatibility';
import { RELEASED } from '../../../release/record-crds';

const parse = (text: string) => parseAllDocuments(text).map((document) => document.toJS() as Definition);
const released = parse(readFileSync(RELEASED, 'utf8'));
const current = parse(readFileSync('dist/crds.yaml', 'utf8'));

/**
 * Returns the definitions of the last commit, or undefined where there is no history, as in an archive of the
 * sources.
 */
function committed(): Definition[] | undefined {
  try {
    return parse(
      execFileSync('git', ['show', 'HEAD:dist/crds.yaml'], {
        encoding: 'utf8',
        maxBuffer: 2 ** 25,
        stdio: 'pipe',
      }),
    );
  } catch {
    return undefined;
  }
}

interface Node {
  [keyword: string]: unknown;
  properties: Record<string, Node>;
  items: Node;
}

interface Draft {
  metadata: { name: string };
  spec: {
    scope: string;
    names: { kind: string };
    versions: [
      {
        name: string;
        served: boolean;
        storage: boolean;
        schema: { openAPIV3Schema: Node };
        subresources?: object;
        selectableFields?: object;
      },
    ];
  };
}

/** A small kind that uses every keyword. */
const small: Draft = {
  metadata: { name: 'lamps.example.org' },
  spec: {
    scope: 'Namespaced',
    names: { kind: 'Lamp' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        selectableFields: [{ jsonPath: '.spec.name' }],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                required: ['name'],
                properties: {
                  name: { type: 'string', minLength: 1, maxLength: 9, pattern: '^[a-z]+$' },
                  mode: { type: 'string', enum: ['on', 'off'] },
                  level: { type: 'integer', minimum: 0, maximum: 10, default: 5 },
                  any: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
                  labels: { type: 'object', additionalProperties: { type: 'string', maxLength: 5 } },
                  whole: {
                    type: 'object',
                    'x-kubernetes-map-type': 'atomic',
                    additionalProperties: { type: 'string' },
                  },
                  parts: {
                    type: 'array',
                    maxItems: 3,
                    'x-kubernetes-list-type': 'map',
                    'x-kubernetes-list-map-keys': ['id'],
                    items: {
                      type: 'object',
                      properties: { id: { type: 'string' }, note: { type: 'string' } },
                    },
                  },
                },
                'x-kubernetes-validations': [{ rule: 'self.level < 9 || has(self.mode)' }],
              },
            },
          },
        },
      },
    ],
  } as unknown as Draft['spec'],
};

type Mutation = readonly [
  name: string,
  change: (spec: Node, version: Draft['spec']['versions'][0], draft: Draft) => void,
];

function afterChange(change: Mutation[1]): readonly string[] {
  const draft = structuredClone(small);
  const [version] = draft.spec.versions;
  change(version.schema.openAPIV3Schema.properties['spec']!, version, draft);
  return breakingChanges([small as unknown as Definition], [draft as unknown as Definition]);
}

const breaks: readonly (readonly [...Mutation, expected: string])[] = [
  [
    'a removed field',
    ({ properties }) => delete properties['mode'],
    'Lamp: spec.mode: the field was removed',
  ],
  [
    'a removed field of list items',
    ({ properties }) => delete properties['parts']!.items.properties['note'],
    'Lamp: spec.parts[].note: the field was removed',
  ],
  [
    'another type',
    ({ properties }) => (properties['level']!['type'] = 'string'),
    'Lamp: spec.level: type changed from integer to string',
  ],
  [
    'a removed default',
    ({ properties }) => delete properties['level']!['default'],
    'Lamp: spec.level: the default 5 was removed: stored objects keep it as if it had been set',
  ],
  ['a required field', (spec) => (spec['required'] = ['name', 'mode']), 'Lamp: spec: mode is newly required'],
  [
    'a new field that is required',
    (spec) => {
      spec.properties['room'] = { type: 'string' } as unknown as Node;
      spec['required'] = ['name', 'room'];
    },
    'Lamp: spec: room is newly required',
  ],
  [
    'fewer values',
    ({ properties }) => (properties['mode']!['enum'] = ['on']),
    'Lamp: spec.mode: enum has no longer off',
  ],
  ['an enum', ({ properties }) => (properties['name']!['enum'] = ['a']), 'Lamp: spec.name: enum was added'],
  [
    'another pattern',
    ({ properties }) => (properties['name']!['pattern'] = '^a$'),
    'Lamp: spec.name: pattern changed',
  ],
  [
    'a pattern',
    ({ properties }) => (properties['mode']!['pattern'] = '^o'),
    'Lamp: spec.mode: pattern was added',
  ],
  [
    'a format',
    ({ properties }) => (properties['mode']!['format'] = 'date'),
    'Lamp: spec.mode: format was added',
  ],
  [
    'a larger minimum',
    ({ properties }) => (properties['level']!['minimum'] = 1),
    'Lamp: spec.level: minimum changed from 0 to 1',
  ],
  [
    'a smaller maximum',
    ({ properties }) => (properties['level']!['maximum'] = 9),
    'Lamp: spec.level: maximum changed from 10 to 9',
  ],
  [
    'a shorter text',
    ({ properties }) => (properties['name']!['maxLength'] = 8),
    'Lamp: spec.name: maxLength changed from 9 to 8',
  ],
  [
    'a longest text',
    ({ properties }) => (properties['mode']!['maxLength'] = 8),
    'Lamp: spec.mode: maxLength 8 was added',
  ],
  [
    'fewer items',
    ({ properties }) => (properties['parts']!['maxItems'] = 2),
    'Lamp: spec.parts: maxItems changed from 3 to 2',
  ],
  [
    'narrower values of a map',
    ({ properties }) => ((properties['labels']!['additionalProperties'] as Node)['maxLength'] = 4),
    'Lamp: spec.labels.*: maxLength changed from 5 to 4',
  ],
  [
    'a map that becomes an object',
    ({ properties }) => delete properties['labels']!['additionalProperties'],
    'Lamp: spec.labels: fields of any name are no longer kept',
  ],
  [
    'unknown fields that are pruned',
    ({ properties }) => delete properties['any']!['x-kubernetes-preserve-unknown-fields'],
    'Lamp: spec.any: unknown fields are no longer kept',
  ],
  [
    'another list type',
    ({ properties }) => (properties['parts']!['x-kubernetes-list-type'] = 'atomic'),
    'Lamp: spec.parts: x-kubernetes-list-type changed from map to atomic',
  ],
  [
    'a map whose keys get owners of their own',
    ({ properties }) => (properties['whole']!['x-kubernetes-map-type'] = 'granular'),
    'Lamp: spec.whole: x-kubernetes-map-type changed from atomic to granular',
  ],
  [
    'other map keys',
    ({ properties }) => (properties['parts']!['x-kubernetes-list-map-keys'] = ['note']),
    'Lamp: spec.parts: x-kubernetes-list-map-keys changed',
  ],
  [
    'another rule',
    (spec) => (spec['x-kubernetes-validations'] = [{ rule: 'self.level < 8 || has(self.mode)' }]),
    'Lamp: spec: the rule "self.level < 8 || has(self.mode)" was added',
  ],
  [
    'a rule about a field that was there',
    (spec) => (spec['x-kubernetes-validations'] = [{ rule: "!has(self.mode) || self.mode == 'on'" }]),
    `Lamp: spec: the rule "!has(self.mode) || self.mode == 'on'" was added`,
  ],
  [
    'a version that is not served',
    (_, version) => (version.served = false),
    'Lamp: version v1 is no longer served',
  ],
  [
    'a version that is not stored',
    (_, version) => (version.storage = false),
    'Lamp: version v1 is no longer the stored one',
  ],
  ['a removed version', (_, version) => (version.name = 'v2'), 'Lamp: version v1 was removed'],
  [
    'no status subresource',
    (_, version) => delete version.subresources,
    'Lamp: version v1 has no longer a status of its own',
  ],
  [
    'a field that cannot be selected',
    (_, version) => delete version.selectableFields,
    'Lamp: .spec.name can no longer be selected',
  ],
  [
    'another scope',
    (_, __, { spec }) => (spec.scope = 'Cluster'),
    'Lamp: scope changed from Namespaced to Cluster',
  ],
  [
    'a removed kind',
    (_, __, { metadata }) => (metadata.name = 'lights.example.org'),
    'Lamp: the definition lamps.example.org was removed',
  ],
];

const additions: readonly Mutation[] = [
  ['a new field', ({ properties }) => (properties['room'] = { type: 'string' } as unknown as Node)],
  [
    'a new field that is required and has a default',
    (spec) => {
      spec.properties['room'] = { type: 'string', default: 'hall' } as unknown as Node;
      spec['required'] = ['name', 'room'];
    },
  ],
  [
    'a rule about a new field',
    (spec) => {
      spec.properties['room'] = { type: 'string' } as unknown as Node;
      (spec['x-kubernetes-validations'] as object[]).push({ rule: "!has(self.room) || self.room != ''" });
    },
  ],
  ['a field that is no longer required', (spec) => delete spec['required']],
  ['more values', ({ properties }) => (properties['mode']!['enum'] = ['on', 'off', 'auto'])],
  ['no enum', ({ properties }) => delete properties['mode']!['enum']],
  ['no pattern', ({ properties }) => delete properties['name']!['pattern']],
  ['wider bounds', ({ properties }) => Object.assign(properties['level']!, { minimum: -1, maximum: 11 })],
  ['a longer text', ({ properties }) => (properties['name']!['maxLength'] = 10)],
  ['a number instead of an integer', ({ properties }) => (properties['level']!['type'] = 'number')],
  ['no rule', (spec) => delete spec['x-kubernetes-validations']],
  [
    'a map that one manager owns as a whole',
    ({ properties }) => (properties['labels']!['x-kubernetes-map-type'] = 'atomic'),
  ],
  ['a description', (spec) => (spec['description'] = 'What it is.')],
  ['another version beside it', (_, __, { spec }) => void (spec.versions as unknown[]).push({ name: 'v2' })],
  [
    'a removed field whose object keeps unknown ones',
    ({ properties }) => {
      delete properties['parts']!.items.properties['note'];
      properties['parts']!.items['x-kubernetes-preserve-unknown-fields'] = true;
    },
  ],
];

describe('breakingChanges', () => {
  test.each(breaks)('%s is found', (_, change, expected) => {
    expect(afterChange(change)).toContain(expected);
  });

  test.each(additions)('%s breaks nothing', (_, change) => {
    expect(afterChange(change)).toEqual([]);
  });

  test('each kind that was released is checked, down to the items of its lists', () => {
    const draft = structuredClone(current) as unknown as Draft[];
    const automation = draft.find(({ spec }) => spec.names.kind === 'HubAutomation')!;
    delete automation.spec.versions[0].schema.openAPIV3Schema.properties['spec']!.properties['alias'];
    expect(breakingChanges(released, draft as unknown as Definition[])).toEqual(
      expect.arrayContaining([expect.stringMatching(/^HubAutomation: spec\.alias: the field was removed/)]),
    );
    expect(breakingChanges(released, [])).toHaveLength(released.length);
  });

  // A break in the API needs a new version beside the old one. `make release` records the additions of a
  // release.
  test('dist/crds.yaml accepts everything that the released CRDs accept', () => {
    expect(released.length).toBeGreaterThan(5);
    expect(breakingChanges(released, current)).toEqual([]);
  });

  test('dist/crds.yaml accepts everything that the CRDs of the last commit accept', () => {
    expect(breakingChanges(committed() ?? [], current)).toEqual([]);
  });
});
