import { type Files, nameInConfig } from '../../../../../operator/sync/configuration/generate/config-files';
import {
  readSections,
  withSecretDigests,
} from '../../../../../operator/sync/configuration/generate/sections';
import { parseHubYaml } from '../../../../../operator/sync/configuration/generate/hub-yaml';
import { MARKER_SCRIPT } from '../../../../../operator/kinds/ids';

const read = (files: Files | string, secrets: Readonly<Record<string, string>> = {}) =>
  withSecretDigests(
    readSections(typeof files === 'string' ? { 'configuration.yaml': files } : files),
    (key) => secrets[key] ?? '',
  );

const names = (files: Files | string): string[] => [...read(files).keys()].sort();

/** Returns the sections that differ between two versions of the files. */
function changed(before: Files | string, after: Files | string): string[] {
  const [old, fresh] = [read(before), read(after)];
  return [...new Set([...old.keys(), ...fresh.keys()])]
    .filter((name) => old.get(name)?.digest !== fresh.get(name)?.digest)
    .sort();
}

describe('readSections', () => {
  test.each([
    ['sections', 'logger:\nfrontend:\n', ['frontend', 'logger']],
    ['labelled sections', 'automation a: []\nautomation b: []\n', ['automation']],
    ['platforms', 'sensor:\n- platform: a\n- platform: b\n- name: c\n', ['sensor', 'sensor.a', 'sensor.b']],
    ['one platform', 'notify:\n  platform: a\n', ['notify.a']],
    ['parts', 'logger:\n  default: info\n  filters: {}\n', ['logger', 'logger.filters']],
    ['packages', 'homeassistant:\n  packages:\n    a: {script: {}}\n', ['homeassistant', 'script']],
    ['merged sections', '<<: &a {logger: {}}\nfrontend:\n', ['frontend', 'logger']],
    [
      'mappings merged from a list, whose first one counts, after the own key',
      'x: &a {platform: a}\ny: &b {platform: b}\nsensor:\n- <<: [*a, *b]\n- <<: [*b, *a]\n  platform: c\n',
      ['sensor.a', 'sensor.c', 'x.a', 'y.b'],
    ],
    ['aliases', 'logger: &a {filters: {}}\nlogger b: *a\n', ['logger', 'logger.filters']],
    ['a flow mapping', '{logger: , frontend: }', ['frontend', 'logger']],
    ['nothing', '# nothing\n', []],
    ['what is no mapping', '[]', []],
    ['what is no YAML', 'a: [', []],
  ])('%s', (_, text, expected) => {
    expect(names(text)).toEqual(expected);
  });

  test('the marker of the operator is not a section, beside scripts of the user', () => {
    const marker = (hash: string) => `script hub_operator: {${MARKER_SCRIPT}: {variables: {a: ${hash}}}}\n`;
    expect(names(marker('1'))).toEqual([]);
    expect(changed(`script: {}\n${marker('1')}`, `script: {}\n${marker('2')}`)).toEqual([]);
  });

  test.each([
    ['a comment', 'logger: # a\n  default: info\n'],
    ['white space', 'logger:\n\n     default:   info'],
    ['flow style', 'logger: {default: info}\n'],
    ['an anchor', 'logger: &a\n  default: info\n'],
  ])('%s changes nothing', (_, text) => {
    expect(changed('logger:\n  default: info\n', text)).toEqual([]);
  });

  test.each([
    ['a value', 'logger: {default: debug}\n'],
    ['the quotes of a value', 'logger: {default: "info"}\n'],
    ['a tag', 'logger: {default: !env_var info}\n'],
    ['a key', 'logger: {defaults: info}\n'],
    ['a list', 'logger: {default: [info]}\n'],
  ])('%s is a change', (_, text) => {
    expect(changed('logger: {default: info}\n', text)).toEqual(['logger']);
  });

  describe('with included files', () => {
    const configuration =
      'sensor: !include sensors.yaml\nlogger: {default: !include ./level.yaml}\nlight: []\n';
    const before = {
      'configuration.yaml': configuration,
      'sensors.yaml': '- platform: a\n  x: 1\n',
      'level.yaml': 'info',
    };

    test.each([
      ['sensors.yaml', '- platform: a\n  x: 2\n', ['sensor.a']],
      ['sensors.yaml', '- platform: b\n', ['sensor.a', 'sensor.b']],
      ['sensors.yaml', '- {platform: a, x: 1}\n', []],
      ['level.yaml', 'debug', ['logger']],
      ['other.yaml', 'no file includes it', []],
    ])('a change of %s to %j changes %j', (name, text, expected) => {
      expect(changed(before, { ...before, [name]: text })).toEqual(expected);
    });

    test('a package in a file has sections, and an unknown package is a part of its own', () => {
      const packages = 'homeassistant: {packages: {a: !include a.yaml, b: !include b.yaml}}\n';
      const files = { 'configuration.yaml': packages, 'a.yaml': 'logger:\nscript: !include c.yaml\n' };
      expect(names(files)).toEqual(['homeassistant', 'homeassistant.packages', 'logger', 'script']);
    });

    test('files that include each other end', () => {
      const circle = {
        'configuration.yaml': 'a: !include b.yaml\n',
        'b.yaml': 'x: !include c.yaml',
        'c.yaml': '- !include b.yaml',
      };
      expect(names(circle)).toEqual(['a']);
      expect(names({ 'configuration.yaml': 'a: !include b.yaml\n', 'b.yaml': '!include b.yaml' })).toEqual([
        'a',
      ]);
    });

    test('a directory that is the configuration itself holds all files', () => {
      const files = { 'configuration.yaml': 'sensor: !include_dir_merge_list ./\n', 'a.yaml': '- x: 1' };
      expect(changed(files, { ...files, 'a.yaml': '- x: 2' })).toEqual(['sensor']);
    });
  });

  describe('with folders', () => {
    const files = {
      'configuration.yaml': [
        'homeassistant: {packages: !include_dir_named packages, customize: !include_dir_merge_named customize}',
        'sensor: !include_dir_merge_list sensors',
        'light: !include_dir_list lights',
        'script: !include_dir_merge_named scripts',
        'frontend: {themes: !include_dir_merge_named themes}',
        '',
      ].join('\n'),
      'packages/hall.yaml': 'counter: {visits: }\ninput_boolean: !include ../parts/lamp.yaml\n',
      'packages/up/attic.yaml': 'input_number: {warmth: !secret warmth}\n',
      'parts/lamp.yaml': 'lamp:\n',
      'sensors/a.yaml': '- platform: a\n- platform: b\n',
      'sensors/c.yaml': '- platform: c\n',
      'lights/one.yaml': 'platform: group\n',
      'scripts/s.yaml': 'night: {sequence: []}\n',
      'customize/c.yaml': 'light.a: {icon: x}\n',
      'unused/x.yaml': 'a: 1\n',
      'packages/not-read.yml': 'timer:\n',
    };

    test('packages, lists and mappings of the known files have their sections', () => {
      expect(names(files)).toEqual([
        ...['counter', 'frontend', 'frontend.themes', 'homeassistant', 'input_boolean', 'input_number'],
        ...['light.group', 'script', 'sensor.a', 'sensor.b', 'sensor.c'],
      ]);
      expect(read(files, { warmth: '1' }).get('input_number')!.secrets).toEqual({ warmth: '1' });
    });

    test.each([
      [
        'packages/hall.yaml',
        'counter: {visits: {step: 2}}\ninput_boolean: !include ../parts/lamp.yaml\n',
        ['counter'],
      ],
      ['packages/up/attic.yaml', 'input_number: {}\n', ['input_number']],
      ['parts/lamp.yaml', 'lamp: {name: Lamp}\n', ['input_boolean']],
      ['sensors/a.yaml', '- platform: a\n- platform: b\n  x: 1\n', ['sensor.b']],
      ['sensors/c.yaml', '[]\n', ['sensor.c']],
      ['lights/one.yaml', 'platform: group\nx: 1\n', ['light.group']],
      ['scripts/s.yaml', 'night: {sequence: [], mode: queued}\n', ['script']],
      ['customize/c.yaml', 'light.a: {icon: y}\n', ['homeassistant']],
      ['themes/new.yaml', 'Night: {}\n', ['frontend.themes']],
      ['unused/x.yaml', 'a: 2\n', []],
      ['packages/not-read.yml', 'timer: {a: }\n', []],
      ['blueprints/automation/me/a.yaml', 'blueprint: {}\n', ['automation']],
      ['blueprints/nonsense/a.yaml', 'blueprint: {}\n', []],
      ['custom_templates/tools.jinja', '{% macro a() %}', ['homeassistant.custom_templates']],
    ])('a change of %s to %j changes %j', (name, text, expected) => {
      expect(changed(files, { ...files, [name]: text })).toEqual(expected);
    });

    test('a folder elsewhere has the digest that it had before folders were supported', () => {
      const text = 'homeassistant: {packages: !include_dir_named a}\nsensor: !include_dir_list b\n';
      expect(names(text)).toEqual(['homeassistant', 'homeassistant.packages', 'sensor']);
      expect(read(text).get('sensor')!.digest).toBe('c6d56a22fc9f21fb6c57d4a004a188bb');
    });

    test('files with equal text include the files beside them', () => {
      const parsed = new Map<string, ReturnType<typeof parseHubYaml>>();
      const shared = (text: string) => {
        const known = parsed.get(text) ?? parseHubYaml(text);
        parsed.set(text, known);
        return known;
      };
      const same = { 'x/i.yaml': '- !include v.yaml\n', 'y/i.yaml': '- !include v.yaml\n' };
      const at = (x: string, y: string) =>
        readSections(
          {
            ...{ 'configuration.yaml': 'a: !include x/i.yaml\nb: !include y/i.yaml\n', ...same },
            ...{ 'x/v.yaml': x, 'y/v.yaml': y },
          },
          shared,
        );
      const before = at('one', '!secret two');
      expect(Object.keys(before.get('b')!.secrets)).toEqual(['two']);
      expect(Object.keys(before.get('a')!.secrets)).toEqual([]);
      const after = at('one', 'three');
      expect(after.get('a')).toEqual(before.get('a'));
      expect(after.get('b')!.digest).not.toBe(before.get('b')!.digest);
    });

    test('folders that contain their own includes end', () => {
      const circle = {
        'configuration.yaml': 'a: !include_dir_merge_named d\nhomeassistant: !include_dir_merge_named d\n',
        'd/a.yaml': '!include_dir_merge_named .\n',
        'd/b.yaml': '!include_dir_named ../d\n',
        'd/c.yaml': 'packages: !include_dir_named .\n',
      };
      expect(names(circle)).toContain('a');
    });
  });

  test.each(['__proto__', 'constructor', 'toString'])('%s is a section like others', (name) => {
    expect(names(`${name}:\n  a: b\n`)).toEqual([name]);
  });

  test('an alias to itself and a mapping that merges itself end', () => {
    expect(names('a: &a [*a]\n')).toEqual(['a']);
    expect(names('a: &a\n  <<: *a\n  b: 1\n')).toEqual(['a']);
  });

  test('aliases of aliases take no time', () => {
    const levels = Array.from({ length: 40 }, (_, level) =>
      level === 0 ? 'a0: &a0 [x]' : `a${level}: &a${level} [*a${level - 1}, *a${level - 1}]`,
    );
    expect(names(levels.join('\n'))).toHaveLength(40);
  });

  // Copying all earlier items for each of 37,000 items would take seconds.
  test('each item of a section is collected once', () => {
    const text = `sensor:\n${'- platform: a\n'.repeat(1_000)}`;
    expect(iterations(() => names(text))).toBeLessThan(50 * 1_000);
  });
});

/** Counts the array items over which the work iterates, by spreads and loops. */
function iterations(work: () => unknown): number {
  const original = Array.prototype[Symbol.iterator];
  let count = 0;
  const counting = jest.spyOn(Array.prototype, Symbol.iterator).mockImplementation(function (
    this: unknown[],
  ) {
    count += this.length;
    return original.call(this);
  });
  try {
    work();
  } finally {
    counting.mockRestore();
  }
  return count;
}

describe('the secrets of sections', () => {
  const files = {
    'configuration.yaml': [
      'recorder: {db_url: !secret url}',
      'sensor: !include sensors.yaml',
      'homeassistant: {packages: {a: {rest_command: {b: {url: !secret url}}}}}',
      'x-a: &a {password: !secret password}',
      'notify: [{platform: smtp, <<: *a}]',
      '',
    ].join('\n'),
    'sensors.yaml': '- {platform: rest, resource: !secret url}\n- {platform: sql}\n',
  };

  test.each([
    ['url', ['recorder', 'sensor.rest', 'rest_command']],
    ['password', ['x-a', 'notify.smtp']],
    ['unused', []],
  ])('%s: %j', (key, expected) => {
    const using = [...read(files)].filter(([, { secrets }]) => Object.hasOwn(secrets, key));
    expect(using.map(([name]) => name).sort()).toEqual([...expected].sort());
  });

  test('the digests of the values are beside that of the text', () => {
    const [before, after] = [read(files, { url: '1' }), read(files, { url: '2' })];
    expect(before.get('recorder')!.secrets).toEqual({ url: '1' });
    expect(after.get('recorder')).toEqual({ ...before.get('recorder'), secrets: { url: '2' } });
  });
});

describe('nameInConfig', () => {
  test.each([
    ['a.yaml', 'a.yaml'],
    ['./a.yaml', 'a.yaml'],
    ['/config/a.yaml', 'a.yaml'],
    ['b/../a.yaml', 'a.yaml'],
    ['../a.yaml', '../a.yaml'],
    ['/config', '.'],
    ['', '.'],
    ['./', '.'],
  ])('%j is %j', (path, name) => {
    expect(nameInConfig(path)).toBe(name);
  });

  test.each([
    ['b.yaml', 'a/b.yaml'],
    ['../b.yaml', 'b.yaml'],
    ['../../b.yaml', '../b.yaml'],
    ['.', 'a'],
    ['/config/b.yaml', 'b.yaml'],
    ['/share/b.yaml', '/share/b.yaml'],
  ])('%j in the folder a is %j', (path, name) => {
    expect(nameInConfig(path, 'a')).toBe(name);
  });
});
