import {
  type ConfigurationSource,
  type Generated,
  generateConfiguration,
} from '../../../operator/sync/configuration/generate/generate';
import { writeSecretsYaml } from '../../../operator/sync/secrets-yaml/secrets-yaml';
import fc from '../../fast-check';
import { seed } from '../../seed';
import { compareByHub, type LoaderResult, readSecretsByHub } from './loader';

// Reads generated configurations with the hub's own loader.

const CASES = 1_000;
const NO_SECRETS = 'known: x\nhub_operator_hash: h\nhub_operator_recorder: sqlite://\n';
/** The files that the hub writes itself, as they are after its first start. */
const HUB_FILES = { 'automations.yaml': '[]\n', 'scenes.yaml': '', 'scripts.yaml': '' };

/** Sections as users write them, and unusual ones. */
const section = fc.constantFrom(
  'logger:\n  default: info\n',
  'frontend:\n',
  'frontend:\n  themes: !include_dir_merge_named themes\n',
  'automation: []\n',
  'automation ui: !include automations.yaml\n',
  'scene: !include scenes.yaml\n',
  'script:\n  night:\n    sequence: []\n',
  'script hub_operator: {}\n',
  'recorder:\n',
  'recorder: # by hand\n',
  'recorder:\n  purge_keep_days: 5\n  db_url: "sqlite:///x"\n',
  'recorder: {auto_purge: no}\n',
  'recorder:\n    exclude:\n      domains: [sun]\n',
  'homeassistant: {name: "A # b", latitude: 1e3, time: 12:30:45, date: 2026-01-02}\n',
  'switches: {a: on, b: Off, c: yes, d: "no", e: ~, f: 0o17, g: 017, h: 1_000}\n',
  "\"quoted key\": 'it''s'\n",
  'x: &anchor\n  a: 1\ny:\n  <<: *anchor\n  b: 2\n',
  'text: |\n  line one\n\n  line two\n',
  'folded: >-\n  folded\n  text\n',
  'keep: |+\n  text\n\n\n',
  'block: |\n  # no comment\n  ... no end\n',
  'plain: several\n  lines of\n  text\n',
  'double: "several\n  lines\\\n  of text"\n',
  'list:\n- a\n- b: 1\n  c: 2\n-\n  - d\n',
  '? complex\n: value\n',
  'secret: !secret known\n',
  'template: "{{ states(\'a.b\') }} ünïcödé 🏠"\n',
  '# a comment\n',
  '   # an indented comment\n',
  '\n',
  'flow: {a: [1, 2,\n  3], b: {c: d}}\n',
  'tagged: !!str 1\n',
  'empty_env: !env_var NOT_SET a default\n',
);

const configuration = fc
  .record({
    sections: fc.uniqueArray(section, { maxLength: 7 }),
    start: fc.constantFrom('', '', '', '---\n', '# first\n---\n', '%YAML 1.1\n---\n', '\ufeff', '\n\n'),
    end: fc.constantFrom('', '', '', '...\n', '...', '... # end\n', '# last', '\n\n  '),
    cut: fc.boolean(),
    indent: fc.constantFrom('', '', '', '  ', '    '),
    newline: fc.constantFrom('\n', '\n', '\n', '\r\n'),
    damage: fc.option(
      fc.record({
        at: fc.double({ min: 0, max: 1, noNaN: true }),
        removed: fc.nat(3),
        added: fc.constantFrom(
          '',
          '',
          ' ',
          '\n',
          '\t',
          ':',
          '- ',
          '{',
          '}',
          '#',
          '"',
          '|',
          '\0',
          '\u0085',
          '\u2028',
          '*a',
          '&a ',
        ),
      }),
      { freq: 3 },
    ),
  })
  .map(({ sections, start, end, cut, indent, newline, damage }) => {
    const lines = sections.join('').split('\n');
    const body = lines.map((line) => (line ? indent + line : line)).join('\n');
    const whole = start + (cut ? body.replace(/\n$/, '') : body) + (cut ? '' : end);
    const text = damage ? splice(whole, damage) : whole;
    return text.replace(/\n/g, newline);
  });

function splice(
  text: string,
  { at, removed, added }: { at: number; removed: number; added: string },
): string {
  const offset = Math.floor(at * text.length);
  return text.slice(0, offset) + added + text.slice(offset + removed);
}

const flow = fc
  .uniqueArray(
    fc.constantFrom(
      'logger: {default: info}',
      'frontend: ',
      '"a": [1, {b: c}]',
      'recorder: {}',
      'scene: []',
      'x',
    ),
    { maxLength: 4 },
  )
  .chain((entries) =>
    fc.constantFrom(
      `{${entries.join(', ')}}`,
      `{ # comment\n ${entries.join(',\n ')}\n}\n`,
      `--- {${entries.join(', ')}}\n...\n`,
    ),
  );

const recorder = fc.constantFrom<ConfigurationSource['recorder'][]>(
  undefined,
  undefined,
  { databaseSecretRef: { name: 'db', key: 'url' }, purgeKeepDays: 30 },
  { database: 'sqlite:///a"b\\c', enabled: true },
  { enabled: false },
);

const source = fc
  .record({
    configuration: fc.oneof({ arbitrary: configuration, weight: 6 }, { arbitrary: flow, weight: 1 }),
    recorder,
    hasSecrets: fc.boolean(),
  })
  .map(({ recorder: settings, ...rest }): ConfigurationSource => ({
    ...rest,
    ...(settings && { recorder: settings }),
  }));

/** Recognizes a mapping in the format of the loader's script. */
const isMapping = (value: unknown): value is { readonly '{}': unknown[] } =>
  typeof value === 'object' && value !== null && '{}' in value;

interface Case {
  readonly source: ConfigurationSource;
  readonly generated: Generated;
  readonly result: LoaderResult;
}

/** Lines without indentation that the hub's loader accepts. */
const UNINDENTED: readonly string[] = [
  't: "{{ foo\nbar }}"\n',
  "a:\n  t: 'one\ntwo\n\nit''s\nthree'\n",
  't: "one\\\ntwo \\\\\nthree\\"\nfour"\n',
  'a:\n  - "one\n# two"\n  - three\n',
  'a:\n  b: [1,\n2,\n3]\nc:\n  d: {e: f,\ng: h}\n',
  'a:\n  b: [ # comment\n1, # x\n2\n]\n',
  'a:\n  b: [\n    1\n]\nc:\n  d: {\n    e: f\n}\n',
  'k: {a: "x\ny", b: [1,\n"z\nw"]}\n',
  'x: "\r\nfoo"\r\ny:\r\n  z: [\r\n1]\r\n',
  't: "é\nü # no"\n',
];

let cases: Case[];

beforeAll(async () => {
  const unindented = UNINDENTED.map((text) => ({
    configuration: text,
    hasSecrets: false,
  }));
  const sources = [...unindented, ...fc.sample(source, { numRuns: CASES, seed })];
  const generated = sources.map((each) => generateConfiguration(each));
  const results = await compareByHub(
    sources.map((each, index) => {
      const common = { ...HUB_FILES, 'secrets.yaml': NO_SECRETS };
      const before = { ...common, 'configuration.yaml': each.configuration };
      const outcome = generated[index]!;
      return { before, after: outcome.type === 'invalid' ? before : { ...common, ...outcome.files } };
    }),
  );
  cases = sources.map((each, index) => ({
    source: each,
    generated: generated[index]!,
    result: results[index]!,
  }));
});

describe('generateConfiguration', () => {
  test('adds what is missing and changes nothing that the hub reads', () => {
    const accepted = cases.filter(
      ({ generated, result }) => generated.type !== 'invalid' && result.errorBefore === null,
    );
    expect(accepted.length).toBeGreaterThan(CASES / 3);
    for (const { source: given, generated, result } of accepted) {
      const added = Object.keys(result.differences)
        .filter((key) => !/^(automation|scene|script)( hub_operator(_\d)?)?$/.test(key))
        .filter((key) => key !== 'recorder' || given.recorder === undefined);
      expect({ given, generated, error: result.errorAfter, added }).toEqual({
        given,
        generated,
        error: null,
        added: [],
      });
    }
  });

  test('accepts lines that are not indented, in quotes and in brackets', () => {
    const few = cases.slice(0, UNINDENTED.length);
    expect(few.map(({ generated, result }) => [generated, result.errorBefore, result.errorAfter])).toEqual(
      UNINDENTED.map(() => [expect.objectContaining({ type: 'configuration' }), null, null]),
    );
  });

  test('keeps every key of the user’s own recorder', () => {
    const pairs = cases.flatMap(({ result }) => {
      const [before, after] = result.differences['recorder'] ?? [];
      return isMapping(before) && isMapping(after) ? [{ before: before['{}'], after: after['{}'] }] : [];
    });
    expect(pairs.length).toBeGreaterThan(10);
    for (const { before, after } of pairs) expect(after).toEqual(expect.arrayContaining(before));
  });

  test('rejects with line and column, and little that the hub would load', () => {
    const rejected = cases.filter(({ generated }) => generated.type === 'invalid');
    expect(rejected.length).toBeGreaterThan(10);
    for (const { source: given, generated } of rejected)
      expect({ given, message: generated.type === 'invalid' && generated.message }).toEqual({
        given,
        message: expect.stringMatching(/^spec\.configuration, line \d+, column \d+: .+\.$/),
      });
    // The hub uses the last of two equal keys, and treats some characters as line breaks that other programs
    // do not.
    const harmful = /occurs twice|is a line break to the hub|U\+FEFF/;
    const loadable = rejected.filter(
      ({ generated, result }) =>
        result.errorBefore === null && generated.type === 'invalid' && !harmful.test(generated.message),
    );
    // Three or four in a thousand on average, depending on the seed between none and ten.
    expect(loadable.length).toBeLessThan(CASES / 50);
  });

  test('puts the marker into the hub, with the hash of its secrets', () => {
    const marked = cases.filter(
      ({ source: { hasSecrets }, generated, result }) =>
        hasSecrets &&
        generated.type !== 'invalid' &&
        result.errorAfter === null &&
        result.errorBefore === null,
    );
    for (const { generated, result } of marked) {
      const values = JSON.stringify(result.differences);
      expect(values).toContain(
        `["configuration","${generated.type === 'configuration' ? generated.hash : ''}"],["secrets","h"]`,
      );
    }
    expect(marked.length).toBeGreaterThan(CASES / 10);
  });
});

describe('writeSecretsYaml', () => {
  test('gives the hub every text exactly as it is', async () => {
    const nasty = fc.constantFrom(
      '0123',
      'true',
      '1e3',
      '~',
      '',
      ' ',
      '# no',
      'a\nb\n',
      '"',
      '\\',
      "it's",
      '\0',
      '\u0085',
      '\u2028',
      '\ufeff',
      '\uffff',
      '\u007f',
      '\ud7ff',
      '🏠',
      '{{ x }}',
      '!secret a',
      '\t',
      '- a',
      'a: b',
      '\r\n',
      '%YAML',
      '---',
      '...',
    );
    const text = fc.oneof(
      nasty,
      fc.string({ unit: 'binary' }),
      fc.array(nasty).map((parts) => parts.join('')),
    );
    const key = fc
      .oneof(
        fc.stringMatching(/^[-._a-zA-Z0-9]{1,30}$/),
        fc.constantFrom('true', 'null', '123', '1.5', '.inf', '-', '...', '---', 'on', '0x1F'),
      )
      .filter((name) => name !== 'logger');
    const samples = fc.sample(fc.dictionary(key, text, { maxKeys: 12, noNullPrototype: true }), {
      numRuns: 300,
      seed,
    });
    const files = samples.map((values) => ({
      text: writeSecretsYaml(new Map(Object.entries(values)), 'salt').text,
      keys: Object.keys(values),
    }));
    expect(await readSecretsByHub(files)).toEqual(samples);
  });
});
