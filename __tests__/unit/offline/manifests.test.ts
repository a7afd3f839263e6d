import { syntaxMessage } from '../../../operator/offline/syntax-messages';
import { type Manifest, readManifests } from '../../../operator/offline/manifests';
import { unsafeIntegers } from '../../../operator/runtime/json';

const read = (text: string) => readManifests('a.yaml', text);
const objectsOf = (text: string) => read(text).map((each) => (each as Manifest).object);

describe('readManifests', () => {
  test('reads documents and the items of lists, and leaves out values that are not objects', () => {
    expect(objectsOf('a: 1\n---\n# nothing\n---\ntext\n---\nkind: List\nitems: [{ b: 2 }, 3]\n')).toEqual([
      { a: 1 },
      { b: 2 },
    ]);
    expect(objectsOf('{"a": {"b": [null]}}')).toEqual([{ a: { b: [null] } }]);
    expect(objectsOf('')).toEqual([]);
  });

  test('reads scalars as kubectl does', () => {
    const text =
      'a: [on, no, ~, 0x10, 1.5, 1_000, 1e3, .5e1, E0, -e5]\nb: [12:30:00, 2026-01-01, 2026-01-01T10:00:00Z, "on", 1:30.5]\n';
    expect(objectsOf(text)).toEqual([
      {
        a: [true, false, null, 16, 1.5, 1000, 1000, 5, 'E0', '-e5'],
        b: ['12:30:00', '2026-01-01', '2026-01-01T10:00:00Z', 'on', '1:30.5'],
      },
    ]);
  });

  test.each(['null: x', '~: x', '{a: {null: x}}', '- b: [{? : x}]'])(
    'a key that is null is refused, as by kubectl: %s',
    (text) => {
      expect(read(`a:\n  ${text}\n---\nb: 1\n`)).toEqual([
        {
          file: 'a.yaml',
          line: 2,
          message:
            'A key is null, or has no text, which kubectl refuses: write the word null in quotes, or correct it.',
        },
        expect.objectContaining({ object: { b: 1 } }),
      ]);
      expect(objectsOf('a: {"null": x, "": z}\n')).toEqual([{ a: { null: 'x', '': 'z' } }]);
    },
  );

  test.each([
    ["message: {{ states('sensor.a') }}", 'a list or an object'],
    ['{{ .Values.name }}: x', 'a list or an object'],
    ['? [b, c]\n  : x', 'a list or an object'],
    ['- [&b [1], {*b : x}]', 'a list or an object'],
    ['- [&b ~, {*b : x}]', 'null'],
  ])('a key that is no text or number is refused, as by kubectl: %s', (text, what) => {
    const [found, next] = read(`a:\n  ${text}\n---\nb: 1\n`);
    expect(found).toMatchObject({ line: 2, message: expect.stringContaining(`A key is ${what}`) as string });
    expect(next).toMatchObject({ object: { b: 1 } });
    expect(objectsOf('a: &b c\n*b : 1\n2: 3\ntrue: "{{ d }}"\n')).toEqual([
      { a: 'c', c: 1, 2: 3, true: '{{ d }}' },
    ]);
  });

  test('the limit of nesting ends no command: what is too deep for a part of the program is refused', () => {
    const too = 'This is not YAML: it is nested too deeply.';
    expect(syntaxMessage(new RangeError('Maximum call stack size exceeded'))).toBe(too);
    for (let depth = 900; depth < 2500; depth += 40)
      for (const [open, end] of [
        ['[', ']'],
        ['{a: ', '}'],
      ] as const) {
        const [found] = read(`a: ${open.repeat(depth)}${end.repeat(depth)}`);
        if (found && 'message' in found) expect(found.message).toBe(too);
      }
  });

  test('an integer beyond 2^53 keeps its digits', () => {
    const [object] = objectsOf(
      'chat: 9007199254740993\nsafe: 9007199254740991\nnegative: -9007199254740993\n',
    );
    expect(object).toMatchObject({ safe: 9007199254740991 });
    expect(unsafeIntegers(object, 'spec')).toEqual([
      { path: 'spec.chat', digits: '9007199254740993' },
      { path: 'spec.negative', digits: '-9007199254740993' },
    ]);
  });

  test('anchors and merge keys are resolved', () => {
    expect(objectsOf('a: &x { b: 1 }\nc: { <<: *x, d: 2 }\n')).toEqual([{ a: { b: 1 }, c: { b: 1, d: 2 } }]);
  });

  test('knows the line of a field, of an item of a list, and of the nearest parent of an absent field', () => {
    const text =
      '# comment\nkind: A\nspec:\n  list:\n    - a: 1\n    - b: &x\n        c: 1\n    - *x\n---\nkind: B\n';
    const [first, second] = read(text) as Manifest[];
    expect(first!.lineOf([])).toBe(2);
    expect(first!.lineOf(['spec', 'list', 1, 'b', 'c'])).toBe(7);
    expect(first!.lineOf(['spec', 'list', '1'])).toBe(6);
    expect(first!.lineOf(['spec', 'other', 'c'])).toBe(3);
    expect(first!.lineOf(['spec', 'list', 2, 'c'])).toBe(8);
    expect(second!.lineOf(['spec'])).toBe(10);
    const [, item] = read('kind: List\nitems:\n  - kind: A\n  - kind: B\n    spec: 1\n') as Manifest[];
    expect([item!.lineOf([]), item!.lineOf(['spec'])]).toEqual([4, 5]);
  });

  test.each([
    ['a bracket that is not closed', 'a: 1\nb: [c\n', 3],
    ['a key that occurs twice', 'a: 1\nb: 2\na: 3\n', 3],
    ['an alias of nothing', 'a: 1\nb: *c\n', 1],
    [
      'aliases that grow without end',
      `a: &a [${'x,'.repeat(20)}]\nb: &b [${'*a,'.repeat(20)}]\nc: &c [${'*b,'.repeat(20)}]\nd: [${'*c,'.repeat(20)}]\n`,
      1,
    ],
  ])('%s is named with its line', (_, text, line) => {
    expect(read(text)).toEqual([
      { file: 'a.yaml', line, message: expect.stringMatching(/^This is not YAML: .+[^.]\.$/) as string },
    ]);
  });

  test.each([
    ['an alias', 'password: *hunter2\n'],
    ['an alias that has a tag', 'password: !!str *hunter2\n'],
    ['text after a quoted one', 'password: "a" hunter2\n'],
    ['text after a list', 'a: [b]\nhunter2: [c] hunter2\n'],
    ['a quote that is not closed', 'password: "hunter2\n'],
    ['an escape sequence', 'password: "\\hunter2"\n'],
    ['a colon in a value', 'password: hunter2: b\n'],
    ['an anchor', 'a: &hunter2 &hunter2 x\n'],
    ['a directive', '%hunter2\n---\na: 1\n%YAML hunter2\n---\nb: [\n'],
    ['a merge', 'a: &x 1\nhunter2:\n  <<: hunter2\n'],
    ['a character', 'password: @hunter2\n'],
    ['a key that occurs twice', 'hunter2: 1\nhunter2: 2\n'],
    ['a set', 'a: !!set { hunter2: 1 }\n'],
  ])('%s that cannot be parsed is not printed: it may be a secret', (_, text) => {
    const problems = read(text).flatMap((each) => ('message' in each ? [each.message] : []));
    expect(problems.length).toBeGreaterThan(0);
    expect(problems.join()).not.toContain('hunter2');
  });

  test.each([
    ['\u0092', 'refuses', '\\u0092'],
    ['\u007f', 'refuses', '\\u007F'],
    ['\u0085', 'takes for a line break', '\\u0085'],
    ['\u2028', 'takes for a line break', '\\u2028'],
  ])('a character that kubectl reads differently ends the parsing: %j', (character, effect, escape) => {
    expect(readManifests('f', `a: 1\nb: "x${character}"\n`)).toEqual([
      { file: 'f', line: 2, message: expect.stringMatching(`kubectl ${effect}: .*"\\${escape}"`) as string },
    ]);
    expect(readManifests('f', JSON.stringify({ b: character }))).toMatchObject(
      effect === 'refuses' ? [{}] : [{ object: { b: character } }],
    );
  });

  test('a document that cannot be parsed does not hide the others', () => {
    expect(read('a: [b\n---\na: 1\n').map((each) => 'object' in each)).toContain(true);
  });
});
