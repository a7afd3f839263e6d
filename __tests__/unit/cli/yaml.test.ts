import { readManifests } from '../../../operator/offline/manifests';
import { withFields } from '../../../cli/pull/file-text';
import { NotWritable, printDocument } from '../../../cli/yaml/print';
import { readingsOf } from '../../../cli/yaml/readings';
import fc from '../../fast-check';

type Fields = Readonly<Record<string, unknown>>;

/** Characters that Go's YAML parser refuses, or treats as line breaks. */
const NOT_FOR_GO =
  /[^\t\n\r\x20-\x7e\u00a0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\u{10000}-\u{10ffff}]/u;

const odd = fc.constantFrom(
  ...[
    'on',
    'Off',
    'y',
    'n',
    'no',
    '~',
    'null',
    '1:30',
    '0o7',
    '0123',
    '1e3',
    '1_000',
    '=',
    '<<',
    '.inf',
    '0x1F',
  ],
  ...[
    '- a',
    'a: b',
    '# c',
    ' lead',
    'trail ',
    'two\nlines\n',
    'two\n\n lines',
    '\n',
    '\ttab\n',
    '{{ x }}',
    'a\r\nb',
  ],
  ...[
    '光',
    'Küche',
    '🏠',
    'a\u0085b',
    'a \u2028 b',
    '\ufeffx',
    '\ufffe',
    '\u007f',
    '\u009d',
    '2026-01-01',
    '@at',
  ],
  ...[
    'E0',
    'e5',
    '%x',
    '!tag',
    '&a',
    '*a',
    '"',
    "'",
    '---',
    '...',
    '? a',
    'a #b',
    'It gets warm. These are open:\n \n{{ n }}',
  ],
);
const text = fc.oneof(
  odd,
  fc.string(),
  fc.string({ unit: fc.constantFrom(...`[a "'\\:#{}\n\t ]`), maxLength: 80 }),
  fc.string({ unit: 'binary' }).filter((each) => !/\p{Cs}/u.test(each)),
);
const number = fc
  .double({ noNaN: true, noDefaultInfinity: true })
  .filter((each) => !Object.is(each, -0) && (!Number.isInteger(each) || Number.isSafeInteger(each)));
const valueOf = (texts: fc.Arbitrary<string>) =>
  fc.letrec((tie) => ({
    any: fc.oneof(
      { maxDepth: 3 },
      texts,
      fc.integer(),
      number,
      fc.boolean(),
      fc.constant(null),
      fc.array(tie('any'), { maxLength: 3 }),
      fc.dictionary(texts, tie('any'), { maxKeys: 3 }),
    ),
  })).any;
const value = valueOf(text);
const json = (part: unknown): Fields => JSON.parse(JSON.stringify(part)) as Fields;

describe('printDocument', () => {
  test('every text, number, null and list keeps its value for kubectl and for YAML 1.2 parsers', () => {
    fc.assert(
      fc.property(fc.dictionary(text, value, { maxKeys: 4 }), (spec) => {
        const object = json({ kind: 'X', spec });
        const written = printDocument(object);
        expect(written).not.toMatch(NOT_FOR_GO);
        expect(readingsOf(written)).toEqual([{ kubectl: object, yaml12: object }]);
        expect(readManifests('x', written)).toMatchObject([{ object }]);
      }),
      { numRuns: 200 },
    );
  });

  test('plain words stay plain, states and numbers in texts are in quotes', () => {
    expect(
      printDocument({
        a: 'Light on the porch',
        b: 'on',
        c: '5',
        d: null,
        on: 'light.sofa',
        e: 'x\ny',
        f: [{ g: [] }],
      }),
    ).toBe(
      'a: Light on the porch\nb: "on"\nc: "5"\nd: null\n"on": light.sofa\ne: |-\n  x\n  y\nf:\n  - g: []\n',
    );
  });

  test('a text with a line of blanks is in one line', () => {
    const message = `It gets warm. ${'These windows are still open '.repeat(4)}:\n \n{{ names }}`;
    expect(printDocument({ message })).toBe(`message: ${JSON.stringify(message)}\n`);
  });

  test('half of a surrogate pair, a number that is not finite and a key without end are refused', () => {
    for (const part of ['a\ud800', Infinity, { ['k'.repeat(1_100)]: 1 }])
      expect(() => printDocument({ part })).toThrow(NotWritable);
  });
});

const resource = (spec: string, name = 'a') =>
  `apiVersion: hub-operator.dev/v1\nkind: HubScript\nmetadata: {name: ${name}}\nspec:\n${spec}`;
const pull = (before: string, fields: Fields) =>
  withFields({ file: 'f', text: before, kind: 'HubScript', name: 'a', fields: fields });
const specIn = (content: string, at = 0) => (readingsOf(content)[at]!.kubectl as { spec: Fields }).spec;
const isDefined = ([, part]: readonly [string, unknown]) => part !== undefined;
const merged = (spec: Fields, fields: Fields): Fields =>
  Object.fromEntries(Object.entries({ ...spec, ...fields }).filter(isDefined));

/**
 * Returns the lines that are only in the first or only in the second text: the common beginning and the
 * common end are left out.
 */
function hunk(before: string, after: string): { readonly removed: string[]; readonly added: string[] } {
  const [old, fresh] = [before.split('\n'), after.split('\n')];
  let [start, end] = [0, 0];
  while (start < Math.min(old.length, fresh.length) && old[start] === fresh[start]) start += 1;
  while (end < Math.min(old.length, fresh.length) - start && old.at(-1 - end) === fresh.at(-1 - end))
    end += 1;
  return { removed: old.slice(start, old.length - end), added: fresh.slice(start, fresh.length - end) };
}

describe('a changed file', () => {
  test.each<[string, string, Fields, string]>([
    ['single quotes', "  alias: 'x' # one\n", { alias: 'y' }, "  alias: 'y' # one\n"],
    ['double quotes', '  alias: "x"\n  a: \'b\'\n', { alias: 'y\u0085' }, '  alias: "y\\x85"\n  a: \'b\'\n'],
    ['a text without quotes', '  alias: Küche, links\n', { alias: 'Küche: an' }, '  alias: "Küche: an"\n'],
    [
      'a text without quotes that stays so',
      '  alias: Küche, links\n',
      { alias: 'Büro (rechts)!' },
      '  alias: Büro (rechts)!\n',
    ],
    [
      'lines',
      '  alias: |\n    a\n    b\n\n  mode: x\n',
      { alias: 'a\nc\n' },
      '  alias: |\n    a\n    c\n\n  mode: x\n',
    ],
    [
      'lines that are one now',
      '  alias: |-\n    a\n    b\n  mode: x\n',
      { alias: 'on' },
      '  alias: |-\n    on\n  mode: x\n',
    ],
    [
      'folded lines',
      '  alias: >- # why\n    a\n    b\n',
      { alias: 'a c\nd' },
      '  alias: >- # why\n    a c\n\n    d\n',
    ],
    [
      'lines that no block can have',
      '  alias: |\n    a\n  mode: x\n',
      { alias: ' a ' },
      '  alias: " a "\n  mode: x\n',
    ],
    [
      'empty lines that belong to a text',
      '  alias: |+\n    a\n\n',
      { mode: 'x' },
      '  alias: |+\n    a\n\n  mode: x\n',
    ],
    [
      'an empty line below a text, and an item that becomes empty',
      '  a: |\n    a\n\n  to: [[1]]\n',
      { to: [[]] },
      '  a: |\n    a\n\n  to: [[]]\n',
    ],
    ['a number', '  max: 0x10 # hex\n', { max: 17 }, '  max: 17 # hex\n'],
    ['nothing', '  alias:\n  mode: x\n', { alias: 'b' }, '  alias: b\n  mode: x\n'],
    [
      'a list in place of a text',
      '  to: on # state\n  mode: x\n',
      { to: ['a'] },
      '  to: # state\n    - a\n  mode: x\n',
    ],
    [
      'a text in place of a list',
      '  to: # state\n    # two\n    - a\n  mode: x\n',
      { to: 'a' },
      '  to: a # state\n    # two\n  mode: x\n',
    ],
    ['an empty list', '  to:\n    - a\n    - b # c\n  mode: x\n', { to: [] }, '  to: [] # c\n  mode: x\n'],
    [
      'a list that was empty',
      '  to: []\n',
      { to: [1, { a: 2, b: 'x' }] },
      '  to:\n    - 1\n    - a: 2\n      b: x\n',
    ],
    [
      'flow',
      '  to: { a: 1, b: [x, y, z], c: 2 }\n',
      { to: { a: 1, b: ['x', 'z'], d: 'on' } },
      '  to: { a: 1, b: [x, z], d: "on" }\n',
    ],
    [
      'the first of flow',
      '  to: [ a, b ]\n',
      { to: ['x', 'a', 'b', { c: 1 }] },
      '  to: [ x, a, b, { c: 1 } ]\n',
    ],
    [
      'the first key of an item',
      '  to:\n    - a: 1 # x\n      b: 2\n',
      { to: [{ b: 2 }] },
      '  to:\n    - b: 2\n',
    ],
    [
      'an item with its comment',
      '  to:\n    # one\n    - a\n    # two\n    - b\n    # three\n    - c\n',
      { to: ['a', 'c'] },
      '  to:\n    # one\n    - a\n    # three\n    - c\n',
    ],
    [
      'the first keys of an item, and a comment of the next one',
      '  to:\n    - a: 1 # x\n      b: 2\n      # three\n      c: 3\n',
      { to: [{ c: 3 }] },
      '  to:\n    - # three\n      c: 3\n',
    ],
    ['an anchor that nothing uses', '  alias: &n Kitchen\n', { alias: 'Bath' }, '  alias: Bath\n'],
    ['a tag', '  alias: !!str 5\n', { alias: '6' }, '  alias: "6"\n'],
    [
      'what kubectl alone takes for true',
      '  a: yes\n  b: 22:00\n  c: x\n',
      { c: 'off' },
      '  a: yes\n  b: 22:00\n  c: "off"\n',
    ],
  ])('%s', (_, before, fields, after) => {
    expect(pull(resource(before), fields)).toBe(resource(after));
  });

  test.each<[string, string, Fields]>([
    [
      'a list with an anchor and its alias',
      '  actions:\n    - &wait {delay: 1}\n    - *wait\n',
      { actions: [{ delay: 2 }, { delay: 1 }] },
    ],
    ['an anchor whose value is replaced', '  alias: &n Kitchen\n  description: *n\n', { alias: 'Bath' }],
    ['an alias that changes', '  alias: &n Kitchen\n  description: *n\n', { description: 'Bath' }],
    ['a removed field with the anchor', '  alias: &n Kitchen\n  description: *n\n', { alias: undefined }],
    ['a merged map', '  variables: &d {a: 1}\n  fields:\n    x: {<<: *d, b: 2}\n', { variables: { a: 3 } }],
    ['a map with a merge', '  variables: &d {a: 1}\n  fields:\n    <<: *d\n    b: 2\n', { fields: { b: 2 } }],
    [
      'a merge that gets a key',
      '  variables: &d {a: 1}\n  fields:\n    <<: *d\n    b: 2\n',
      { fields: { a: 4, b: 2, c: 5 } },
    ],
    ['a key of a number', '  variables: {1: a, 2: b}\n', { variables: { 1: 'a', 2: 'c' } }],
    [
      'nested anchors',
      '  actions:\n    - &x {a: 1, b: &y {c: 1}}\n    - {d: *y, e: *x}\n',
      {
        actions: [
          { a: 1, b: { c: 5 } },
          { d: { c: 1 }, e: 1 },
        ],
      },
    ],
    ['an explicit key', '  ? alias\n  : Kitchen\n  ? mode\n  : x\n', { alias: 'Bath', mode: undefined }],
    [
      'keys that are anchors',
      '  &k alias: Kitchen\n  variables: {*k : 1}\n',
      { alias: 'Bath', variables: { alias: 2 } },
    ],
    ['pairs in a list', '  to: [a: 1, b]\n', { to: [{ a: 2 }, 'b'] }],
    ['all of a map is other', '  to:\n    a: 1\n', { to: { b: 1 } }],
    ['items in items', '  to:\n    - - a\n      - b\n    - - c\n', { to: [['b'], ['c', 'd']] }],
  ])('%s has the values of the hub', (_, before, fields) => {
    for (const form of [
      resource(before),
      resource(before).replaceAll('\n', '\r\n'),
      `\ufeff${resource(before)}`,
    ]) {
      const after = pull(form, fields);
      expect(specIn(after)).toEqual(merged(specIn(form), fields));
      if (form.includes('\r')) expect(after).not.toMatch(/[^\r]\n/);
      expect(after.startsWith('\ufeff')).toBe(form.startsWith('\ufeff'));
    }
  });

  test('an alias of a changed value is expanded in its place, and everything else stays', () => {
    const before = resource(
      '  # what\n  to:\n    - &wait { delay: 1 } # one\n    - *wait # two\n  last: &l [ *wait ]  # three\n  b: *l\n',
    );
    expect(pull(before, { to: [{ delay: 2 }, { delay: 1 }] })).toBe(
      resource(
        '  # what\n  to:\n    - &wait { delay: 2 } # one\n    - delay: 1 # two\n  last: &l [ { delay: 1 } ]  # three\n  b: *l\n',
      ),
    );
  });

  test('comments above a document are not duplicated, and everything else stays, with and without a last line break', () => {
    const head = '# yaml-language-server: $schema=all.json\n\n# Light.\n';
    for (const end of ['', '\n', '\n\n# end\n', '\n...\n']) {
      const before = `${head}${resource('  alias: A')}${end}`;
      expect(pull(before, { alias: 'B' })).toBe(before.replace('alias: A', 'alias: B'));
      const added = pull(before, { mode: 'single' });
      expect(added).toBe(`${head}${resource('  alias: A\n  mode: single')}${end}`);
    }
  });

  test('a block scalar that ends the text without a line break keeps its value for Go’s parser', () => {
    const before = resource('  mode: x\n  alias: |\n    a');
    expect(pull(before, { mode: 'z' })).toBe(before.replace('x', 'z'));
    expect(() => pull(before, { max: 1 })).toThrow('no line break at its end: add one');
    expect(pull(resource('  alias: a'), { alias: 'a\nb\n' })).toBe(resource('  alias: |\n    a\n    b\n'));
  });

  test('an object in a list, and in a text of JSON', () => {
    const list = `kind: List\nitems:\n- kind: X\n- ${resource('  alias: A # x\n').trimEnd().replaceAll('\n', '\n  ')}\n`;
    expect(pull(list, { alias: 'B' })).toBe(list.replace('A # x', 'B # x'));
    const before = JSON.stringify(
      { kind: 'HubScript', metadata: { name: 'a' }, spec: { alias: 'A', to: [] } },
      null,
      2,
    );
    const after = pull(before, { alias: 'on\u0085', to: [{ a: 'b' }] });
    expect(JSON.parse(after)).toMatchObject({ spec: { alias: 'on\u0085', to: [{ a: 'b' }] } });
    expect(after).not.toMatch(NOT_FOR_GO);
  });

  const other = `${resource('  alias:   &x  "on" # other\n  b: [ *x,  y ]\n', 'b')}`;
  const forms = [
    (spec: Fields) => printDocument({ kind: 'HubScript', metadata: { name: 'a' }, spec }),
    (spec: Fields) => JSON.stringify({ kind: 'HubScript', metadata: { name: 'a' }, spec }, null, 2),
    (spec: Fields) => `kind: HubScript\nmetadata: {name: a}\nspec: ${JSON.stringify(spec)} # x\n`,
  ];
  // A parser of JSON in YAML treats some characters as line breaks, even within quotes.
  const inJson = valueOf(text.map((each) => each.replace(/[^\x20-\x7e\u00a1-\ud7ff]|[\u2028\u2029]/g, '?')));

  test('any values become those of the hub, and other documents stay unchanged, byte for byte', () => {
    const names = fc.constantFrom('a', 'b', 'c', 'd', 'e');
    const fields = fc.dictionary(names, fc.option(inJson, { nil: undefined }), { maxKeys: 3 });
    const spec = fc.dictionary(names, inJson, { minKeys: 1, maxKeys: 5 });
    fc.assert(
      fc.property(spec, fields, fc.constantFrom(...forms), fc.boolean(), (before, changed, form, isOther) => {
        const start = `${form({ keep: 1, ...json(before) }).trimEnd()}\n`;
        const content = isOther ? `# c\n---\n${other}---\n${start}` : start;
        const after = pull(content, changed);
        const at = isOther ? 1 : 0;
        expect(specIn(after, at)).toEqual(json(merged({ keep: 1, ...before }, changed)));
        if (isOther) expect(after.startsWith(`# c\n---\n${other}---\n`)).toBe(true);
      }),
      { numRuns: 100 },
    );
  });

  test('one changed field is one hunk in the lines of this field', () => {
    const spec = fc.record({ a: value, b: value, c: value });
    fc.assert(
      fc.property(spec, value, (before, changed) => {
        const content = printDocument({ kind: 'HubScript', metadata: { name: 'a' }, spec: json(before) });
        const after = pull(content, { b: json(changed) });
        const { removed, added } = hunk(content, after);
        const [from, to] = ['  b:', '  c:'].map((key) =>
          content.split('\n').findIndex((line) => line.startsWith(key)),
        );
        expect(content.split('\n').slice(from, to).join('\n')).toContain(removed.join('\n'));
        expect(pull(after, { b: json(changed) })).toBe(after);
        expect(added.join('\n')).not.toMatch(NOT_FOR_GO);
      }),
      { numRuns: 100 },
    );
  });

  test('any list of items becomes equal to that of the hub, and comments outside of removed items stay', () => {
    const item = fc.record({
      a: fc.constantFrom('x', 'on', 'y z'),
      b: fc.option(fc.integer({ min: 0, max: 3 })),
    });
    const items = fc.array(item, { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(items, items, fc.nat(), item, (before, after, at, changed) => {
        const lines = before.map(
          ({ a, b }, index) => `    # above ${index}\n    - a: "${a}" # a${index}\n      b: ${b}\n`,
        );
        const content = resource(`  # head\n  to: # here\n${lines.join('')}  # tail\n  mode: x\n`);
        const whole = pull(content, { to: after });
        expect(specIn(whole)).toEqual({ to: after, mode: 'x' });
        for (const comment of ['# head\n', '# tail\n', 'to: # here\n']) expect(whole).toContain(comment);
        const index = at % before.length;
        const one = pull(content, { to: before.with(index, changed) });
        expect(hunk(content, one).removed.length).toBeLessThanOrEqual(2);
        expect(one.match(/# above|# a\d/g)).toHaveLength(2 * before.length);
        const more = pull(content, { to: before.toSpliced(index, 0, changed) });
        expect(more.match(/# above|# a\d/g)).toHaveLength(2 * before.length);
        expect(more.split('\n')).toHaveLength(content.split('\n').length + 2);
      }),
    );
  });

  test('anchors and aliases anywhere: the values are those of the hub, or the file is refused', () => {
    const part = fc.constantFrom(
      '&x {a: 1}',
      '*x',
      '&y [1, *x]',
      '*y',
      '{<<: *x, b: 2}',
      '1',
      '&z {c: &x {a: 5}}',
      'b',
      '&x b',
    );
    const small = fc.constantFrom<unknown>(
      { a: 1 },
      { a: 2 },
      [1, { a: 1 }],
      1,
      'b',
      { a: 1, b: 2 },
      { c: { a: 5 } },
    );
    fc.assert(
      fc.property(
        fc.array(part, { minLength: 1, maxLength: 6 }),
        fc.array(small, { maxLength: 6 }),
        fc.boolean(),
        (parts, after, isBlock) => {
          const list = isBlock ? parts.map((each) => `\n    - ${each}`).join('') : ` [${parts.join(', ')}]`;
          const content = resource(`  first: &x {a: 7}\n  second: &y [8]\n  to:${list}\n  last: [*x, *y]\n`);
          fc.pre(readingsOf(content)[0]!.kubectl !== undefined);
          const changed = pull(content, { to: after });
          expect(specIn(changed)).toEqual({ ...specIn(content), to: after });
        },
      ),
      { numRuns: 100 },
    );
  });
});
