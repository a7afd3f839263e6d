import { parse } from 'yaml';
import { convert } from '../../../cli/convert/convert';
import { helperFields, type HelperDomain } from '../../../cli/convert/helper-fields';
import { unbounded } from '../../../operator/base/bounded-task';
import { growth, NEARLY_LINEAR } from '../growth';

type Files = Readonly<Record<string, string>>;

const converted = (files: Files, helpers = true) =>
  convert({ type: 'folder', files, left: [] }, { hub: 'villa', helpers }, unbounded);

interface Spec {
  readonly configuration: string;
  readonly [field: string]: unknown;
}

/** Returns the specs of HubHelpers by file, the texts that are left, and what stays with its reason. */
async function taken(files: Files, helpers = true) {
  const { files: made, stays, warnings, errors, notExpressed } = await converted(files, helpers);
  expect(errors).toEqual([]);
  const specOf = (text: string) => (parse(text) as { spec: Spec }).spec;
  return {
    specs: Object.fromEntries(
      made
        .filter(({ kind }) => kind === 'HubHelper')
        .map(({ path, text }) => {
          const { hubRef: _, configuration: __, ...spec } = specOf(text);
          return [path.replace(/^helpers\/(.*)\.yaml$/, '$1'), spec];
        }),
    ),
    texts: Object.fromEntries(
      made.flatMap(({ path, text, kind, isRaw }) => {
        if (kind === 'HubConfiguration') return [['configuration.yaml', specOf(text).configuration]];
        return isRaw ? [[path.replace('config/', ''), text]] : [];
      }),
    ),
    stays: Object.fromEntries(stays.map(({ path, reason }) => [path, reason])),
    warnings: warnings.map(({ message }) => message),
    notExpressed,
  };
}

const PACKAGES = 'homeassistant:\n  packages: !include_dir_named packages\n';

describe('helpers of the YAML', () => {
  test('stay where they are without the option', async () => {
    const files = { 'configuration.yaml': 'input_boolean:\n  film:\n  a: {name: !secret b}\n' };
    expect(await taken(files, false)).toMatchObject({ specs: {}, texts: files, stays: {} });
  });

  test('are resources with the id of their key, and the name that the hub shows', async () => {
    const files = {
      'configuration.yaml': 'input_boolean:\n  guest_mode:\n  film: {name: Film, icon: "mdi:movie"}\n',
    };
    const { specs, texts } = await taken(files);
    expect(specs).toEqual({
      'guest-mode': { type: 'boolean', id: 'guest_mode', name: 'guest mode' },
      film: { type: 'boolean', id: 'film', name: 'Film', icon: 'mdi:movie' },
    });
    expect(texts['configuration.yaml']).toBe('input_boolean:\n');
  });

  test('leave all else byte for byte', async () => {
    const text = [
      '# top',
      'input_boolean:   # mine',
      '  # of the first',
      '  a:',
      '    name: "A # no comment"',
      '',
      '  # of the second',
      '  b: {name: !secret b}   # stays',
      '  c:   ',
      '    name: >-',
      '      long',
      '      name',
      '',
      '# after',
      'timer: { one: { duration: 5 }, two: {duration: !secret d}, three: }   # braces',
      'counter: {x: , "y": {step: 2}}',
      'logger:',
      '  default: warn',
    ].join('\n');
    const { texts, specs, warnings } = await taken({ 'configuration.yaml': text });
    expect(Object.keys(specs).sort()).toEqual(['a-no-comment', 'long-name', 'one', 'three', 'x', 'y']);
    expect(texts['configuration.yaml']).toBe(
      [
        '# top',
        'input_boolean:   # mine',
        '  # of the first',
        '',
        '  # of the second',
        '  b: {name: !secret b}   # stays',
        '',
        '# after',
        'timer: { two: {duration: !secret d}}   # braces',
        'counter: {}',
        'logger:',
        '  default: warn',
      ].join('\n'),
    );
    expect(warnings).toEqual([]);
  });

  test.each([
    [
      'line breaks of Windows',
      '\ufeffa: 1\r\ninput_button:\r\n  x:\r\n    name: X\r\nb: 2\r\n',
      '\ufeffa: 1\r\ninput_button:\r\nb: 2\r\n',
    ],
    ['no line break at the end', 'input_button:\n  x: {}', 'input_button:\n'],
    [
      'a key with a question mark in braces',
      'input_button: {? x : {name: X}, y: !secret y}\n',
      'input_button: {? y: !secret y}\n',
    ],
    ['keys in quotes', 'input_button:\n  "x": {name: X}\nb: 1\n', 'input_button:\nb: 1\n'],
    [
      'a section of a text block',
      'input_button:\n  x:\n    name: |\n      X\n\n\nb: 1\n',
      'input_button:\n\n\nb: 1\n',
    ],
    [
      'braces over lines',
      'input_button: {\n  x: {name: X},\n  y: {name: !secret y}\n}\n',
      'input_button: {\n  y: {name: !secret y}\n}\n',
    ],
  ])('are taken out of a text with %s', async (_, text, rest) => {
    const { texts, specs } = await taken({ 'configuration.yaml': text });
    expect(Object.keys(specs)).toEqual(['x']);
    expect(texts['configuration.yaml']).toBe(rest);
  });

  test('are taken out of packages and of included files, which stay', async () => {
    const { specs, texts } = await taken({
      'configuration.yaml': `${PACKAGES}input_text: !include texts.yaml\ncounter: !include_dir_merge_named counters\n`,
      'texts.yaml': '# texts\nnote: {max: 20}\n',
      'counters/a.yaml': 'a: {step: 2}\n',
      'packages/hall.yaml': 'timer:\n  oven: {duration: "00:05:00"}\nautomation: []\n',
    });
    expect(specs).toEqual({
      note: { type: 'text', id: 'note', name: 'note', text: { max: 20 } },
      a: { type: 'counter', id: 'a', name: 'a', counter: { step: 2 } },
      oven: { type: 'timer', id: 'oven', name: 'oven', timer: { duration: '0:05:00' } },
    });
    expect(texts).toMatchObject({
      'texts.yaml': '# texts\n',
      'counters/a.yaml': '',
      'packages/hall.yaml': 'timer:\nautomation: []\n',
    });
  });

  test('have a comment of their lines named, which is not in the resource', async () => {
    const text = 'input_boolean:\n  a:   # why\n    # because\n    name: A\n  b:\n';
    const { warnings, texts } = await taken({ 'configuration.yaml': text });
    expect(texts['configuration.yaml']).toBe('input_boolean:\n');
    expect(warnings).toEqual([
      'configuration.yaml, line 2: the comment is in a helper that has become a resource, which does not have it.',
      'configuration.yaml, line 3: the comment is in a helper that has become a resource, which does not have it.',
    ]);
  });

  const one = (text: string) => ({ 'configuration.yaml': `input_boolean:\n  x: ${text}\n` });
  test.each<[string, Files, string | RegExp]>([
    [
      'a secret',
      one('{name: !secret k}'),
      'it uses !secret, which a resource cannot: write the value itself',
    ],
    [
      'an include',
      one('!include x.yaml'),
      'it uses !include, which a resource cannot: write the value itself',
    ],
    ['an anchor', one('&a {name: X}\n  y: *a'), 'it has an anchor or an alias: write the values out'],
    [
      'a field that the hub does not know',
      one('{nme: X}'),
      'the hub does not know the field nme: correct it',
    ],
    ['a value of another type', one('{initial: 1}'), /^initial has a value that the hub would convert/],
    ['a list', one('[a]'), 'it is no mapping: correct it'],
    ['an icon without a prefix', one('{icon: sofa}'), /^spec\.icon: /],
    [
      'an id twice',
      {
        'configuration.yaml': `${PACKAGES}input_boolean: {x: }\n`,
        'packages/a.yaml': 'input_boolean: {x: }\n',
      },
      'the configuration has it twice: remove one of the two',
    ],
    [
      'a file for each helper',
      { 'configuration.yaml': 'input_boolean: !include_dir_named b\n', 'b/x.yaml': 'name: X\n' },
      'the file is included as one helper: write it into a section, with its id as key',
    ],
    [
      'a shared section',
      { 'configuration.yaml': 'a: &s\n  x: {name: X}\ninput_boolean: *s\n' },
      'its section has an anchor: write the values out where the alias is',
    ],
    ['a key with a capital', { 'configuration.yaml': 'input_boolean: {X: }\n' }, /^its key is no id/],
    ['a long key', { 'configuration.yaml': `input_boolean: {${'x'.repeat(65)}: }\n` }, /^its key is no id/],
    [
      'a value that is set at each start',
      { 'configuration.yaml': 'input_number: {x: {min: 0, max: 1, initial: 1}}\n' },
      /^initial is set at each start/,
    ],
    [
      'a merge beside it',
      { 'configuration.yaml': 'x: &b {x: {name: B}}\ninput_button:\n  <<: *b\n  x: {name: X}\n' },
      /^its section merges another one/,
    ],
    [
      'a key with a question mark',
      { 'configuration.yaml': 'input_button:\n  ? x\n  : name: X\n' },
      'its lines cannot be taken out of the file alone: write it in lines of its own',
    ],
    [
      'a key with a question mark in braces of its own',
      { 'configuration.yaml': 'input_button: {? x : {name: X}}\nb: 1\n' },
      'its lines cannot be taken out of the file alone: write it in lines of its own',
    ],
    ...['1', '01', '1_0', '2024_01_01', 'on', 'null'].map((key): [string, Files, string] => [
      `the key ${key}, which is no text to the hub`,
      { 'configuration.yaml': `input_button:\n  ${key}: {name: X}\n` },
      'its key is no text to the hub: write it in quotes',
    ]),
    [
      'a file that another section includes as well',
      {
        'configuration.yaml': 'input_button: !include a.yaml\nfoo: !include a.yaml\n',
        'a.yaml': 'x: {name: X}\n',
      },
      'its file is included more than once: write the helper into a file of its own',
    ],
    [
      'a file of a folder that another file includes as well',
      {
        'configuration.yaml': 'input_button: !include_dir_merge_named a\nfoo: !include b.yaml\n',
        'a/x.yaml': 'x: {name: X}\n',
        'b.yaml': 'bar: !include a/x.yaml\n',
      },
      'its file is included more than once: write the helper into a file of its own',
    ],
    [
      'a package that an alias repeats',
      {
        'configuration.yaml':
          'homeassistant:\n  packages:\n    p: &p\n      input_button: {x: {name: X}}\nother: *p\n',
      },
      'it is in a part of the file with an anchor: write the values out where the alias is',
    ],
    [
      'a date that does not exist',
      { 'configuration.yaml': 'input_datetime: {x: {has_date: true, initial: "2026-02-30"}}\n' },
      /^spec\.datetime\.initial: there is no day 2026-02-30/,
    ],
  ])('with %s stay, with the reason', async (_, files, reason) => {
    const { specs, texts, stays } = await taken({ 'x.yaml': '{}', ...files });
    expect(specs).toEqual({});
    expect(texts).toMatchObject({ 'configuration.yaml': files['configuration.yaml'] });
    const reasons = Object.entries(stays).filter(([path]) => path.includes(', line '));
    expect(reasons.length).toBeGreaterThan(0);
    for (const [path, found] of reasons) {
      expect(path).toMatch(/, line \d+, [a-z_]+\.\w+$/);
      if (typeof reason === 'string') expect(found).toBe(reason);
      else expect(found).toMatch(reason);
    }
  });

  test('of two sections that include one file stay in it', async () => {
    const files = {
      'configuration.yaml': 'counter: !include a.yaml\ntimer: !include a.yaml\n',
      'a.yaml': 'x:\n',
    };
    const { specs, texts, stays } = await taken(files);
    expect([specs, texts['a.yaml'], Object.keys(stays)]).toEqual([
      {},
      'x:\n',
      ['a.yaml, line 1, counter.x', 'a.yaml, line 1, timer.x'],
    ]);
  });

  test('of a file that is no YAML are not read, and the error is the one of the file', async () => {
    const { errors, files } = await converted({ 'configuration.yaml': 'input_boolean:\n\tx:\n' });
    expect(errors).toEqual([expect.stringContaining('configuration.yaml, line 2')]);
    expect(files.map(({ kind }) => kind)).not.toContain('HubHelper');
  });

  test('of 400 take no more time for each than 25', async () => {
    const convertMany = async (count: number) => {
      const text = Array.from(
        { length: count },
        (_, index) => `  h_${index}: {name: "Helper ${index}"}\n`,
      ).join('');
      const { specs, texts } = await taken({ 'configuration.yaml': `input_boolean:\n${text}# end\n` });
      expect(Object.keys(specs)).toHaveLength(count);
      expect(texts['configuration.yaml']).toBe('input_boolean:\n# end\n');
    };
    expect(await growth(convertMany, 400)).toBeLessThan(NEARLY_LINEAR);
  });
});

describe('fields', () => {
  test.each<[HelperDomain, string, unknown, unknown]>([
    ['input_boolean', 'initial', true, true],
    ['input_boolean', 'initial', 'on', undefined],
    ['input_text', 'initial', 5, '5'],
    ['input_text', 'initial', 1.5, undefined],
    ['input_text', 'min', 'a', undefined],
    ['input_select', 'options', ['a', 1, 'a'], ['a', '1']],
    ['input_select', 'options', 'alone', ['alone']],
    ['input_select', 'options', [true], undefined],
    ['input_datetime', 'initial', 45_000, undefined],
    ['counter', 'maximum', 9, 9],
    ['timer', 'duration', 90, '0:01:30'],
    ['timer', 'duration', '01:30', '1:30:00'],
    ['timer', 'duration', '1:2:3', '1:02:03'],
    ['timer', 'duration', '00:90:00', undefined],
    ['timer', 'duration', { hours: 1, minutes: 90 }, '2:30:00'],
    ['timer', 'duration', { weeks: 1 }, undefined],
    ['timer', 'duration', {}, undefined],
    ['timer', 'duration', -5, undefined],
    ['timer', 'duration', 1.5, undefined],
    ['schedule', 'monday', [{ from: '8:00', to: 43_200 }], undefined],
    ['schedule', 'monday', [{ from: '08:00:00', to: '09:00:00', color: 'red' }], undefined],
  ])('%s: %s %j is %j', (domain, field, given, expected) => {
    const read = helperFields(domain, 'an_id', { [field]: given });
    expect('fields' in read ? read.fields : undefined).toEqual(
      expected === undefined ? undefined : { name: 'an id', [field]: expected },
    );
  });

  test('without a limit are those of a counter without one', () => {
    const given = { minimum: null, maximum: null, name: 'N' };
    expect(helperFields('counter', 'a', given)).toEqual({ fields: { name: 'N' } });
  });
});

describe('helpers of the UI', () => {
  const stored = (...items: readonly object[]) => JSON.stringify({ version: 1, data: { items } });

  test('are resources in any case', async () => {
    const files = {
      'configuration.yaml': 'default_config:\n',
      '.storage/input_boolean': stored({ id: 'gaste_da', name: 'Gäste da' }),
      '.storage/person': stored({ id: 'ada', name: 'Ada', device_trackers: [] }),
      '.storage/timer': stored({ id: 'tea', name: 'Tea', duration: '0:05:00', restore: false }),
    };
    const { files: made } = await converted(files);
    expect(made.map(({ kind }) => kind)).not.toContain('HubPerson');
    for (const option of [true, false])
      expect((await taken(files, option)).specs).toEqual({
        'gaste-da': { type: 'boolean', id: 'gaste_da', name: 'Gäste da' },
        tea: { type: 'timer', id: 'tea', name: 'Tea', timer: { duration: '0:05:00' } },
      });
  });

  test('that the YAML hides are named, and files that were cut off', async () => {
    const { notExpressed, specs } = await taken({
      'configuration.yaml': 'input_boolean: {film: {name: Of the file}}\n',
      '.storage/input_boolean': stored({ id: 'film', name: 'Film' }, { id: 'other', name: 'Other' }),
      '.storage/counter': '{"data": {',
    });
    expect(notExpressed).toEqual([
      {
        object: 'input_boolean film',
        reason:
          'The configuration has a helper of this id, which the hub uses instead: remove one of the two.',
      },
      { object: '.storage/counter', reason: expect.stringContaining('It is no JSON') },
    ]);
    expect(specs).toMatchObject({ 'of-the-file': { name: 'Of the file' }, other: { id: 'other' } });
  });
});
