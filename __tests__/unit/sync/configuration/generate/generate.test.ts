import { randomBytes } from 'node:crypto';
import { parseDocument } from 'yaml';
import {
  type ConfigurationSource,
  generateConfiguration,
  type GeneratedConfiguration,
} from '../../../../../operator/sync/configuration/generate/generate';
import { configHash } from '../../../../../operator/sync/configuration/generate/config-hash';
import { digestsOfParts } from '../../../../../operator/sync/configuration/generate/parts';
import fc from '../../../../fast-check';
import { growth, NEARLY_LINEAR } from '../../../growth';

function generate(source: Partial<ConfigurationSource> | string): GeneratedConfiguration {
  const given = typeof source === 'string' ? { configuration: source } : source;
  const generated = generateConfiguration({ configuration: '', hasSecrets: false, ...given });
  if (generated.type === 'invalid') throw new Error(generated.message);
  return generated;
}

/** Returns the generated text without the marker, which is the last entry of a block mapping. */
function text(source: Partial<ConfigurationSource> | string): string {
  const { files } = generate(source);
  return files['configuration.yaml']!.replace(
    /^ *script hub_operator(_\d)?: \{hub_operator_configuration.*\r?\n/m,
    '',
  );
}

const problem = (source: Partial<ConfigurationSource>): string => {
  const generated = generateConfiguration({ configuration: '', hasSecrets: false, ...source });
  return generated.type === 'invalid' ? generated.message : 'valid';
};

const includes =
  'automation: !include automations.yaml\nscene: !include scenes.yaml\nscript: !include scripts.yaml\n';

describe('generateConfiguration', () => {
  test.each([
    ['an empty configuration', '', '', ''],
    ['sections of its own', 'automation mine: []\nscript hub_operator: {}\n', '', '_2'],
  ])('%s includes delivered files as well, in labelled sections', (_, configuration, label, scriptLabel) => {
    expect(text({ configuration, readsDelivery: true })).toBe(
      `${configuration}${includes}automation hub_operator${label}: !include hub-operator/automations.yaml\n` +
        `scene hub_operator: !include hub-operator/scenes.yaml\nscript hub_operator${scriptLabel}: !include hub-operator/scripts.yaml\n`,
    );
  });

  test('delivered files that a section of the user includes are included once', () => {
    const configuration = 'automation own: !include hub-operator/automations.yaml\n';
    const generated = text({ configuration, readsDelivery: true });
    expect(generated.split('hub-operator/automations.yaml')).toHaveLength(2);
  });

  test.each([
    ['ssl_certificate: /ssl/a.pem', 'ssl_certificate', 'encrypt at the Ingress or Gateway of the Hub'],
    ['ssl_key: /ssl/a.key', 'ssl_key', 'encrypt at the Ingress or Gateway of the Hub'],
    ['server_port: 443', 'server_port', 'spec.service.port of the Hub sets the port of its Service'],
  ])(
    'http: with %s would make the hub unreachable, and is refused with its place',
    (line, setting, remedy) => {
      const refusal = (place: string) =>
        `spec.configuration, ${place}: http.${setting} would make the hub unreachable for the probes of its pod and for the operator, which use plain HTTP at port 8123. Remove it; ${remedy}.`;
      expect(problem({ configuration: `logger:\nhttp:\n  ${line}\n` })).toBe(
        refusal(`line 3, column ${setting.length + 5}`),
      );
      const text = `homeassistant:\n  packages:\n    web:\n      http:\n        ${line}\n`;
      expect(problem({ configuration: text })).toContain(`http.${setting} would make the hub unreachable`);
    },
  );

  test('http: with the port that the hub has, or one that is a secret, is accepted', () => {
    const of = (port: string) =>
      problem({ configuration: `http:\n  server_port: ${port}\n`, hasSecrets: true });
    expect([of('8123'), of('!secret port')]).toEqual(['valid', 'valid']);
  });

  test.each([
    ['an empty configuration', '', includes],
    ['only comments', '# nothing yet', `# nothing yet\n${includes}`],
    ['other sections', 'logger:\n  default: info\n', `logger:\n  default: info\n${includes}`],
    ['no newline at the end', 'frontend:', `frontend:\n${includes}`],
    [
      'a section that includes another file',
      'automation: !include_dir_merge_list automations\n',
      'automation: !include_dir_merge_list automations\nautomation hub_operator: !include automations.yaml\nscene: !include scenes.yaml\nscript: !include scripts.yaml\n',
    ],
    [
      'sections of the user’s own',
      'scene: []\nscript:\n  night:\n    sequence: []\n',
      'scene: []\nscript:\n  night:\n    sequence: []\nautomation: !include automations.yaml\nscene hub_operator: !include scenes.yaml\nscript hub_operator: !include scripts.yaml\n',
    ],
    [
      'a section whose label is taken as well',
      'scene: !include my.yaml\nscene hub_operator: !include more.yaml\n',
      'scene: !include my.yaml\nscene hub_operator: !include more.yaml\nautomation: !include automations.yaml\nscene hub_operator_2: !include scenes.yaml\nscript: !include scripts.yaml\n',
    ],
    [
      'a labelled section besides',
      'automation old: !include old.yaml\n',
      `automation old: !include old.yaml\n${includes}`,
    ],
    [
      'a labelled section that includes the file already',
      'automation ui: !include ./automations.yaml\nscene ui: !include /config/scenes.yaml\n',
      'automation ui: !include ./automations.yaml\nscene ui: !include /config/scenes.yaml\nscript: !include scripts.yaml\n',
    ],
    ['all three', includes, includes],
  ])('the includes are added to %s', (_, input, expected) => {
    expect(text(input)).toBe(expected);
  });

  test('the user’s text is kept byte for byte', () => {
    const odd =
      'homeassistant:\n  name:   "Zuhause"   # spaces and comment\nsensor: !secret  x\nyes: on\n"a": !env_var B c\n';
    expect(text(odd)).toBe(odd + includes);
  });

  test('any YAML mapping that it is given is the beginning of the result, and the result has the includes', () => {
    const name = fc.stringMatching(/^[a-z_]{1,12}$/);
    fc.assert(
      fc.property(
        fc.dictionary(name, fc.constantFrom('', ' 1', ' !secret x', '\n  a: b'), { maxKeys: 6 }),
        (sections) => {
          const input = Object.entries(sections)
            .map(([key, value]) => `${key}:${value}\n`)
            .join('');
          const result = text(input);
          expect(result.startsWith(input)).toBe(true);
          const keys = Object.keys(parseDocument(result, { logLevel: 'silent' }).toJSON() as object);
          expect(keys).toEqual(expect.arrayContaining(['automation', 'scene', 'script']));
          expect(new Set(keys).size).toBe(keys.length);
        },
      ),
    );
  });

  test.each([
    [
      'an indented root',
      '  logger:\n  frontend:\n',
      '  logger:\n  frontend:\n  automation: !include automations.yaml\n',
    ],
    [
      'the end of the document',
      'logger:\n...\n# after\n',
      'logger:\nautomation: !include automations.yaml\n',
    ],
    [
      'carriage returns',
      'logger:\r\nfrontend:\r\n',
      'frontend:\r\nautomation: !include automations.yaml\r\n',
    ],
    ['a flow mapping', '{logger: {}}', '{automation: !include automations.yaml, '],
    ['an empty flow mapping', '{}\n', '{automation: !include automations.yaml, '],
    ['directives', '%YAML 1.1\n---\nlogger:\n', '---\nlogger:\nautomation: !include automations.yaml\n'],
    ['a byte order mark before an indent', '\ufeff  a:\n  b:\n', '\ufeff  a:\n  b:\n  automation: '],
    ['the beginning of a document alone', '---', '---\nautomation: !include automations.yaml\n'],
    ['a byte order mark', '\ufefflogger:\n', '\ufefflogger:\nautomation: !include automations.yaml\n'],
    [
      'an open block at the end',
      'logger:\nx: |\n  text',
      'script: !include scripts.yaml\nlogger:\nx: |\n  text',
    ],
    ['an open block in a list', 'x:\n- >\n  text', 'script: !include scripts.yaml\nx:\n- >\n  text'],
    ['merged sections', '<<: &a {scene: []}\n', 'scene hub_operator: !include scenes.yaml'],
  ])('%s is extended where it can be', (_, input, expected) => {
    expect(text(input)).toContain(expected);
    expect(text(input).replace(/\r?\n/g, '').length).toBeGreaterThan(input.replace(/\r?\n/g, '').length);
  });

  test.each([
    ['broken YAML', 'logger:\n  default: [', 'spec.configuration, line 2, column 13: '],
    ['a key twice', 'logger:\nlogger:\n', 'line 2, column 1: the key logger occurs twice'],
    ['a key twice below', 'logger:\n  a: 1\n  "a": 2\n', 'line 3, column 3: the key a occurs twice'],
    ['a list', '# list\n- logger', 'line 2, column 1: it must be a mapping'],
    ['a scalar', 'logger', 'it must be a mapping'],
    ['null', 'null', 'it must be a mapping'],
    ['a tab as indent', 'logger:\n\tdefault: info', 'line 2, column 1: Tabs are not allowed as indentation'],
    ['two documents', 'logger:\n---\nfrontend:\n', 'line 2, column 1: a second document begins here'],
    ['binary junk', 'logger:\n  a: \u0000\u0001', 'line 2, column 6: the character U+0000 is not allowed'],
    [
      'a lone carriage return',
      'a: 1\rb: 2',
      'line 1, column 5: the character U+000D is a line break to the hub',
    ],
    [
      'a line separator',
      'a: x\u2028b: 2',
      'line 1, column 5: the character U+2028 is a line break to the hub',
    ],
    [
      'a byte order mark inside',
      'a: 1\n\ufeffb: 2',
      'line 2, column 1: the character U+FEFF is not allowed here',
    ],
    ['a character after a byte order mark', '\ufeffa: \u0007', 'line 1, column 4: the character U+0007'],
    ['an unknown alias', 'a: *b', 'line 1, column 4: the alias *b refers to nothing'],
    ['deep nesting', '['.repeat(100_000), 'nested too deeply'],
  ])('%s is refused with line and column', (_, configuration, message) => {
    expect(problem({ configuration })).toContain(message);
  });

  test.each([
    [
      'http:\n  ssl_certificate: /ssl/a.pem\n',
      'line 2, column 20: http.ssl_certificate',
      'Ingress or Gateway',
    ],
    ['http:\n  ssl_key: /ssl/a.pem\n', 'http.ssl_key', 'Ingress or Gateway'],
    ['http:\n  server_port: 80\n', 'http.server_port', 'spec.service.port'],
    ['http:\n  server_host: 192.0.2.1\n', 'http.server_host', 'spec.networkPolicy'],
    ['http:\n  server_host: [127.0.0.1, 192.0.2.1]\n', 'http.server_host', 'spec.networkPolicy'],
    [
      'homeassistant:\n  packages:\n    web:\n      http:\n        server_port: 80\n',
      'line 5, column 22: http.server_port',
      'spec.service.port',
    ],
  ])('%j, with which the hub cannot be reached, is refused', (configuration, setting, remedy) => {
    const message = problem({ configuration });
    expect(message).toContain(`${setting} would make the hub unreachable`);
    expect(message).toContain(remedy);
  });

  test.each([
    'http:\n  server_port: 8123\n  server_host: [192.0.2.1, 0.0.0.0]\n',
    'http:\n  server_host: "::"\n  use_x_forwarded_for: true\n',
    // The hub's own trial shows whether the hub is reachable with a secret value.
    'http:\n  server_port: !secret port\n  server_host: !secret host\n',
  ])('%j is accepted', (configuration) => {
    expect(problem({ configuration })).toBe('valid');
  });

  test('a file that is not YAML is named', () => {
    const files = { 'lights.yaml': 'a: 1\n  b: 2' };
    expect(problem({ files })).toMatch(/^spec\.files\[lights\.yaml\], line 1, column 4: /);
  });

  describe('a configuration larger than a ConfigMap can hold', () => {
    const incompressible = (length: number) => `# ${randomBytes(length).toString('base64').slice(0, length)}`;
    const many = (count: number, text: string) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`a${index}.yaml`, text]));

    test('is split into parts, which the marker names', () => {
      const { files } = generate({ configuration: 'logger:\n', files: many(4, `# ${'ä'.repeat(150_000)}`) });
      expect(Object.keys(files).filter((name) => name.startsWith('hub-operator/'))).toHaveLength(8);
      const [digest, ...others] = digestsOfParts(files);
      expect(others).toHaveLength(7);
      expect(files['configuration.yaml']).toContain(
        `parts: [["${digest}", !include hub-operator/part-0.yaml], [`,
      );
    });

    test('of more than 3 MiB is refused with the numbers', () => {
      expect(problem({ files: many(8, 'x'.repeat(400_000)) })).toContain(
        'have 3200000 bytes, and a configuration has at most 3145728',
      );
    });

    test('in one file among others is refused with its name', () => {
      const files = { 'a.yaml': `# ${'x'.repeat(950_000)}`, 'b.yaml': `# ${'y'.repeat(200_000)}` };
      expect(problem({ files })).toMatch(
        /^spec\.files\[a\.yaml\] has 950002 bytes, .* at most 921600: divide it\.$/,
      );
    });

    test('of random text is also refused in compressed form', () => {
      const files = Object.fromEntries(
        Array.from({ length: 8 }, (_, index) => [`a${index}.yaml`, incompressible(300_000)]),
      );
      expect(problem({ files })).toMatch(
        /in compressed form .* a ConfigMap has room for 1024000: shorten them\.$/,
      );
    });

    test('in spec.configuration alone is refused', () => {
      expect(problem({ configuration: `# ${'x'.repeat(1_100_000)}\n` })).toContain('have at least 1100');
    });
  });

  test('records about many sections count, too', () => {
    const lines = Array.from({ length: 6_000 }, (_, index) => `key_${index}:`);
    expect(problem({ configuration: lines.join('\n') })).toContain('a ConfigMap has room for');
  });

  test.each([
    ['one and "1"', '1: a\n"1": b\n'],
    ['several merge keys', 'a: &a {x: 1}\nb: &b {y: 1}\nc:\n  <<: *a\n  <<: *b\n'],
    ['the same key in two mappings', 'a: {x: 1}\nb: {x: 1}\n'],
  ])('%s are no duplicate keys', (_, configuration) => {
    expect(problem({ configuration })).toBe('valid');
  });

  test('20,000 keys take no more time for each than 1,250', async () => {
    const check = (count: number) => {
      const lines = Array.from({ length: count }, (_, index) => `  key_${index}: 1`);
      expect(problem({ configuration: `a:\n${lines.join('\n')}` })).toBe('valid');
    };
    expect(await growth(check, 20_000)).toBeLessThan(NEARLY_LINEAR);
  });

  test('the longest text that the schema accepts is generated, and checked again', () => {
    const line = (index: number) =>
      `  text_${String(index).padStart(5, '0')}: {name: "${'x'.repeat(100)}"}\n`;
    const lines = Array.from({ length: Math.floor(524_000 / line(0).length) }, (_, index) => line(index));
    const configuration = `input_text:\n${lines.join('')}# `.padEnd(524_288, 'x');
    expect(configuration).toHaveLength(524_288);
    expect(generate(configuration).files['configuration.yaml']).toMatch(/^input_text:\n[^]+x\nautomation: /);
  });

  // Each of these would take minutes, hours or gigabytes with an algorithm that visits parts of the text
  // again for each use.
  describe('a text that refers to its parts many times, or is wrong in many places', () => {
    const list = (count: number, item: (index: number) => string) =>
      Array.from({ length: count }, (_, index) => item(index));

    test('mappings that merge mappings, at each level ten times, are generated', () => {
      const levels = list(
        40,
        (level) => `x${level + 1}: &x${level + 1} {<<: [${Array(10).fill(`*x${level}`).join()}]}\n`,
      );
      expect(problem({ configuration: `x0: &x0 {k: 1}\n${levels.join('')}<<: *x40\n` })).toBe('valid');
    });

    test('packages of packages, which the hub does not read, are no sections', () => {
      const levels = list(
        40,
        (level) =>
          `x${level + 1}: &x${level + 1} {homeassistant: {packages: {a: *x${level}, b: *x${level}}}}\n`,
      );
      const configuration = `x0: &x0 {deepest: 1}\n${levels.join('')}homeassistant: {packages: {c: *x40}}\n`;
      expect([...generate({ configuration }).sections.keys()]).not.toContain('deepest');
    });

    test('a package that contains itself ends', () => {
      const configuration = 'homeassistant: &h {packages: {p: {homeassistant: *h}}}\n';
      expect([...generate({ configuration }).sections.keys()]).toContain('homeassistant');
    });

    test('items that merge each other in a chain have their platforms', () => {
      const items = list(2_000, (index) => `- &x${index + 1} {<<: *x${index}, k${index}: 1}\n`);
      const { sections } = generate(`sensor:\n- &x0 {platform: a}\n${items.join('')}`);
      expect([...sections.keys()]).toEqual(['sensor.a', 'automation', 'scene', 'script']);
    });

    test('secrets that thousands of sections use are refused, since no ConfigMap has room for the records about them', () => {
      const secrets = list(4_000, (index) => `!secret k${index}`).join();
      const sections = list(6_000, (index) => `x${index + 1}: &x${index + 1} [*x${index}]\n`);
      expect(problem({ configuration: `x0: &x0 [${secrets}]\n${sections.join('')}` })).toMatch(
        /have at least \d{7,8} bytes together/,
      );
    });

    test('a comment of 400,000 characters before an unindented line is handled', () => {
      const configuration = `a: [\nx, ${'# '.repeat(200_000)}"\nb]\n`;
      expect(problem({ configuration })).toContain('a list or mapping in brackets is not closed');
    });

    test('a comment within brackets ends with its line, also if the next one is not indented', () => {
      const configuration = 'a: [ # one\nx, # two\r\n# three\nb]\n';
      expect(problem({ configuration })).toBe('valid');
      expect(problem({ configuration: 'a: [\n"b" # " c\nd]\n' })).toContain('is not closed');
    });
  });

  describe('the marker', () => {
    test('has the hash of the content that is generated without it', () => {
      const { files, hash } = generate('logger:\n');
      expect(files['configuration.yaml']).toBe(
        `logger:\n${includes}script hub_operator: {hub_operator_configuration: {sequence: [], variables: {configuration: "${hash}"}}}\n`,
      );
      expect(hash).toBe(configHash({ 'configuration.yaml': `logger:\n${includes}` }));
    });

    test('asks the hub for the hash of its secrets', () => {
      const { files, hash } = generate({ configuration: '', hasSecrets: true });
      expect(files['configuration.yaml']).toContain(
        `{configuration: "${hash}", secrets: !secret hub_operator_hash}`,
      );
      expect(hash).toBe(generate('').hash);
    });

    test('has its own label beside scripts of the user', () => {
      expect(generate('script: {}\n').files['configuration.yaml']).toMatch(
        /^script hub_operator: !include scripts\.yaml\nscript hub_operator_2: \{/m,
      );
    });

    test('is not among the sections of the configuration', () => {
      expect([...generate('').sections.keys()]).toEqual(['automation', 'scene', 'script']);
    });
  });

  describe('the recorder', () => {
    const recorder = { databaseSecretRef: { name: 'db', key: 'url' }, purgeKeepDays: 30 };
    const section = '{db_url: !secret hub_operator_recorder, purge_keep_days: 30}';

    test.each([
      ['without a section', 'logger:\n', `logger:\n${includes}recorder: ${section}\n`],
      [
        'an empty section',
        'recorder: # mine\nlogger:\n',
        `recorder:  ${section} # mine\nlogger:\n${includes}`,
      ],
      [
        'a section',
        'recorder:\n    auto_purge: false\n',
        `recorder:\n    db_url: !secret hub_operator_recorder\n    purge_keep_days: 30\n    auto_purge: false\n${includes}`,
      ],
      [
        'a flow section',
        'recorder: {auto_purge: false}\n',
        `recorder: {${section.slice(1, -1)}, auto_purge: false}\n${includes}`,
      ],
      ['a flow mapping', '{recorder: , logger: }', `recorder:  ${section}, logger: }`],
    ])('is added: %s', (_, configuration, expected) => {
      expect(text({ configuration, recorder })).toContain(expected);
      expect(generate({ configuration, recorder }).notices).toEqual([]);
    });

    test.each([
      ['only trusted networks', 'homeassistant: {auth_providers: [{type: trusted_networks}]}\n', 1],
      ['none', 'homeassistant:\n  auth_providers: []\n', 1],
      ['by an alias', 'x: &x [{type: command_line}]\nhomeassistant: {auth_providers: *x}\n', 1],
      ['both', 'homeassistant: {auth_providers: [{type: trusted_networks}, {type: homeassistant}]}\n', 0],
      ['one that is not read', 'homeassistant: {auth_providers: [!include login.yaml]}\n', 0],
      ['a file that is not read', 'homeassistant: {auth_providers: !include login.yaml}\n', 0],
      ['no such section', 'homeassistant: {name: Villa}\n', 0],
      ['another form', 'homeassistant: 5\n', 0],
    ])('providers of the login: %s', (_, configuration, count) =>
      expect(generate({ configuration }).lockouts).toEqual(
        Array.from({ length: count }, () => expect.stringMatching(/lacks type: homeassistant/)),
      ),
    );

    test('a key of the user’s own takes precedence, and that is reported', () => {
      const configuration = 'recorder:\n  db_url: sqlite://\n';
      const { notices } = generate({ configuration, recorder });
      expect(text({ configuration, recorder })).toBe(
        `recorder:\n  purge_keep_days: 30\n  db_url: sqlite://\n${includes}`,
      );
      expect(notices).toEqual([expect.stringMatching(/^db_url of recorder .* remove one of the two\.$/)]);
    });

    test.each([
      ['an include', 'recorder: !include recorder.yaml\n'],
      ['an alias', 'x: &a {auto_purge: false}\nrecorder: *a\n'],
      ['merged', '<<: {recorder: {}}\n'],
      ['a value', 'recorder: yes\n'],
    ])('a section that is %s stays, and that is reported', (_, configuration) => {
      expect(text({ configuration, recorder })).toBe(configuration + includes);
      expect(generate({ configuration, recorder }).notices).toEqual([
        expect.stringContaining('has no effect'),
      ]);
    });

    test('a database without a password is written as a text', () => {
      const given = { database: 'sqlite:////config/a "b".db' };
      expect(text({ configuration: '', recorder: given })).toContain(
        'recorder: {db_url: "sqlite:////config/a \\"b\\".db"}',
      );
    });

    test('only enabled: an empty section', () => {
      expect(text({ configuration: '', recorder: { enabled: true } })).toContain('recorder: {}\n');
    });

    test('disabled: nothing is added, and a section of the user’s own is reported', () => {
      const disabled = { ...recorder, enabled: false };
      expect(text({ configuration: '', recorder: disabled })).toBe(includes);
      expect(generate({ configuration: 'recorder:\n', recorder: disabled }).notices).toEqual([
        expect.stringContaining('spec.recorder.enabled is false'),
      ]);
    });
  });

  test('the keys of !secret are found with their places, in all files', () => {
    const { secrets } = generate({
      configuration: 'a: !secret one\nb: [!secret two, !secret one]\n',
      files: { 'c.yaml': '\n- x: !secret "three"\n' },
    });
    expect(Object.fromEntries(secrets)).toEqual({
      one: 'spec.configuration, line 1, column 12',
      two: 'spec.configuration, line 2, column 13',
      three: 'spec.files[c.yaml], line 2, column 14',
    });
  });
});

describe('configHash', () => {
  test('the hash is that of names and contents, not of their order', () => {
    expect(configHash({ a: '1', b: '2' })).toBe(configHash({ b: '2', a: '1' }));
    expect(configHash({ a: '1', b: '2' })).not.toBe(configHash({ a: '2', b: '1' }));
    expect(configHash({ a: '1' })).toMatch(/^sha256:[0-9a-f]{64}$/);
  });
});
