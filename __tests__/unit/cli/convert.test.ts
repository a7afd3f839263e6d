import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';
import { buffer } from 'node:stream/consumers';
import { parse, parseDocument } from 'yaml';
import { unbounded } from '../../../operator/base/bounded-task';
import { planConfigMaps, filesFromOf } from '../../../cli/convert/config-maps';
import { convert } from '../../../cli/convert/convert';
import { readSource } from '../../../cli/convert/source';
import { hubReading } from '../../../cli/convert/hub-reading';
import { withModernKeys } from '../../../cli/convert/modern-keys';

type Files = Readonly<Record<string, string | Buffer>>;

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'convert-'));
});
afterEach(() => rm(folder, { recursive: true }));

async function write(files: Files, below = 'config'): Promise<string> {
  for (const [path, text] of Object.entries(files)) {
    const full = join(folder, below, path);
    await mkdir(dirname(full), { recursive: true });
    await writeFile(full, text);
  }
  return join(folder, below);
}

const converted = async (files: Files) =>
  convert(await readSource(await write(files), ''), { hub: 'villa' }, unbounded);

/** Returns the resource in a file of the result. */
async function resource(files: Files, path: string) {
  const { files: made } = await converted(files);
  const text = made.find((each) => each.path === path)?.text;
  if (text === undefined) throw new Error(`only ${made.map((each) => each.path).join(', ')}`);
  return parse(text) as { spec: Record<string, unknown>; metadata: { name: string } };
}

const MAIN = '# Mine\nhomeassistant:\n  packages: !include_dir_named packages\n';

describe('the configuration', () => {
  test('is kept byte for byte, with its comments and its order', async () => {
    const text = `${MAIN}\nlogger: {default: warn}   # last\n\n`;
    const { spec } = await resource({ 'configuration.yaml': text }, 'hub-configuration.yaml');
    expect(spec).toEqual({ hubRef: { name: 'villa' }, configuration: text });
  });

  test.each(['\ufeffa: 1\r\nb: 2\r\n', 'a: "tab\there"\n', 'a: 1 \n\n  \n', ''])(
    '%j is kept, too',
    async (text) => {
      const { spec } = await resource({ 'configuration.yaml': text }, 'hub-configuration.yaml');
      expect(spec['configuration']).toBe(text);
    },
  );

  test('has its files as ConfigMaps of their folders', async () => {
    const files = {
      'configuration.yaml': `${MAIN}  customize: !include customize.yaml\n`,
      'customize.yaml': 'light.a: !include parts/a.yaml\n',
      'parts/a.yaml': '{}\n',
      'packages/hall.yaml': 'input_boolean: {a: null}\n',
      'packages/ground floor/attic.yaml': '{}\n',
      'packages/ground floor/my room.yaml': '{}\n',
      'packages/.hidden.yaml': '{}\n',
      'packages/notes.txt': 'text',
    };
    const { spec } = await resource(files, 'hub-configuration.yaml');
    expect(spec['filesFrom']).toEqual([
      { configMapRef: { name: 'villa-files' } },
      {
        configMapRef: { name: 'villa-packages-ground-floor' },
        folder: 'packages/ground floor',
        items: [
          { key: 'attic.yaml', path: 'attic.yaml' },
          { key: 'my_room.yaml', path: 'my room.yaml' },
        ],
      },
      { configMapRef: { name: 'villa-packages' }, folder: 'packages' },
      { configMapRef: { name: 'villa-parts' }, folder: 'parts' },
    ]);
    const { files: made, stays } = await converted(files);
    const kustomization = made.find(({ path }) => path === 'kustomization.yaml')!.text;
    expect(parse(kustomization)).toMatchObject({
      resources: ['hub-configuration.yaml'],
      generatorOptions: { disableNameSuffixHash: true },
      configMapGenerator: expect.arrayContaining([
        { name: 'villa-packages', files: ['config/packages/hall.yaml'] },
        {
          name: 'villa-packages-ground-floor',
          files: [
            'config/packages/ground floor/attic.yaml',
            'my_room.yaml=config/packages/ground floor/my room.yaml',
          ],
        },
      ]),
    });
    expect(made.find(({ path }) => path === 'config/parts/a.yaml')!.text).toBe('{}\n');
    expect(stays).toEqual([{ path: 'packages/notes.txt', reason: 'nothing includes it' }]);
  });

  test.each([
    ['a package with a tab', { 'packages/a.yaml': 'a:\n\tb: 1\n' }, 'packages/a.yaml, line 2, column 1: '],
    [
      'an unknown tag',
      { 'packages/a.yaml': 'a: !vault b\n' },
      'packages/a.yaml, line 1, column 11: the hub does not know the tag !vault: correct it.',
    ],
    [
      'a circle',
      { 'packages/a.yaml': 'a: !include a.yaml\n' },
      'packages/a.yaml, line 1, column 13: the files include each other in a circle',
    ],
    [
      'a reserved script',
      { 'packages/a.yaml': 'script: {hub_operator_configuration: {sequence: []}}\n' },
      'hub_operator',
    ],
  ])('%s is an error that names the file', async (_, files, words) => {
    const { errors } = await converted({ 'configuration.yaml': MAIN, ...files });
    expect(errors.join('\n')).toContain(words);
  });

  test('warns of targets that do not exist, variables without a value and passwords', async () => {
    const text = `${MAIN}a: !include none.yaml\nb: !env_var HOME_NAME\nc: !env_var HOME_NAME my home\nmqtt: {password: hunter22}\nd: {api_key: !secret k, pin: "{{ x }}"}\n`;
    const { warnings, errors } = await converted({ 'configuration.yaml': text, 'packages/a.yaml': '{}' });
    expect(errors).toEqual([]);
    expect(warnings.map(({ message }) => message)).toEqual([
      expect.stringMatching(
        /^configuration\.yaml, line 5, column \d+: !env_var HOME_NAME needs this variable/,
      ),
      expect.stringMatching(/^configuration\.yaml, line 7, column \d+: password looks like a secret/),
      expect.stringMatching(
        /^configuration\.yaml, line 4, column \d+: includes the file none\.yaml, which spec\.files does not have/,
      ),
    ]);
  });

  test('an included file that cannot be copied is an error with its reason', async () => {
    const { errors, stays } = await converted({
      'configuration.yaml': `${MAIN}a: !include words\nb: !include www/a.yaml\n`,
      'packages/hall.yaml': Buffer.from('caf\xe9', 'latin1'),
      'packages/attic.yaml': 'x'.repeat(5 * 1024 * 1024),
      'packages/notes.md': '',
      'custom_templates/a.jinja': 'a \u0085 b',
      'blueprints/script/me/a.yaml': 'a: 1\n# \u009d\n',
      words: 'a: 1',
      'www/a.yaml': '',
    });
    expect(errors.map((each) => each.replace(/: copy.*/, ''))).toEqual([
      'packages/attic.yaml is included: it has 5242880 bytes, and a ConfigMap has room for 1 MiB',
      'packages/hall.yaml is included: it is not in UTF-8: store it in this encoding first.',
      'words is included: it is no text of a configuration',
      'www/ is included: files of the web server',
      'blueprints/script/me/a.yaml, line 2: kubectl does not keep the character U+009D: remove it.',
      'custom_templates/a.jinja, line 1: kubectl does not keep the character U+0085: remove it.',
    ]);
    expect(stays.map(({ path }) => path)).toEqual(['packages/notes.md']);
  });

  test('lists files that a hub cannot have, and files that are not text', async () => {
    const { errors, stays } = await converted({
      'configuration.yaml': `${MAIN}küche: !include küche.yaml\n`,
      'küche.yaml': '{}\n',
      'latin.yaml': Buffer.from('caf\xe9', 'latin1'),
      'custom_components/x/__init__.py': '',
      'www/a.png': '',
      'home-assistant_v2.db': '',
      '.storage/auth': '{}',
      'tool.py': '',
    });
    expect(stays.map(({ path }) => path)).toEqual([
      '.storage/',
      'custom_components/',
      'home-assistant_v2.db',
      'latin.yaml',
      'tool.py',
      'www/',
    ]);
    expect(errors).toEqual([
      expect.stringMatching(/^küche\.yaml: a path has .*\. Rename it, also where it is included\.$/),
    ]);
  });

  test('warns of secrets by their form, also in lists and packages', async () => {
    const token = `eyJ${'a1'.repeat(8)}.${'b2'.repeat(8)}.${'c3'.repeat(8)}`;
    const { warnings } = await converted({
      'configuration.yaml': MAIN,
      'packages/a.yaml': `a: [{url: "http://me:hunter22@host/"}, "Bearer abcdefgh12345678"]\nb: ${token}\nc: {token: ${token}}\n`,
    });
    expect(warnings.map(({ message }) => message.replace(/ looks.*/, ''))).toEqual([
      'packages/a.yaml, line 1, column 11: the text',
      'packages/a.yaml, line 1, column 40: the text',
      'packages/a.yaml, line 2, column 4: the text',
      'packages/a.yaml, line 3, column 12: the text',
    ]);
    expect(JSON.stringify(warnings)).not.toMatch(/hunter22|abcdefgh|eyJ/);
  });

  test('includes blueprints and templates, except those that the hub provides', async () => {
    const { files, stays } = await converted({
      'configuration.yaml': 'a:\n',
      'blueprints/automation/me/a.yaml': 'blueprint: {}\nb: !input c\n',
      'blueprints/automation/homeassistant/b.yaml': 'blueprint: {}\n',
      'custom_templates/tools.jinja': '{% macro a() %}{% endmacro %}',
    });
    expect(files.filter(({ isRaw }) => isRaw).map(({ path }) => path)).toEqual([
      'config/blueprints/automation/me/a.yaml',
      'config/custom_templates/tools.jinja',
    ]);
    expect(stays).toEqual([
      {
        path: 'blueprints/automation/homeassistant/b.yaml',
        reason: 'the hub writes its own blueprints itself',
      },
    ]);
  });
});

describe('blueprints', () => {
  const lamp = '# Mine\nblueprint: { name: Lamp, domain: automation, input: { a: } }\nb: !input a\n';

  test('become resources with their texts, also without a configuration.yaml', async () => {
    const files = {
      'blueprints/automation/Some User/Lamp (1).yaml': lamp,
      'blueprints/script/me/lamp.yaml': 'blueprint: { name: Lamp, domain: script }\nsequence: []\n',
      'blueprints/automation/homeassistant/motion_light.yaml': lamp,
    };
    for (const main of ['configuration.yaml', 'automations.yaml']) {
      const { files: made, notExpressed } = await converted({ ...files, [main]: '' });
      const blueprints = made.filter(({ kind }) => kind === 'HubBlueprint');
      expect(blueprints.map(({ path }) => path)).toEqual([
        'blueprints/some-user-lamp-1.yaml',
        'blueprints/me-lamp.yaml',
      ]);
      expect(parse(blueprints[0]!.text)).toMatchObject({
        spec: {
          hubRef: { name: 'villa' },
          domain: 'automation',
          path: 'Some User/Lamp (1).yaml',
          content: lamp,
        },
      });
      expect(notExpressed).toEqual([]);
      expect(made.filter(({ isRaw }) => isRaw)).toEqual([]);
      const list = made.find(({ path }) => path === 'kustomization.yaml')?.text;
      expect(list).toContain('blueprints/me-lamp.yaml');
    }
  });

  test('stay files of the configuration if a resource would be refused', async () => {
    const { files } = await converted({
      'configuration.yaml': 'a:\n',
      'blueprints/automation/me/secret.yaml': `${lamp}c: !secret d\n`,
      'blueprints/script/me/other-domain.yaml': lamp,
    });
    expect(files.filter(({ isRaw }) => isRaw).map(({ path }) => path)).toEqual([
      'config/blueprints/automation/me/secret.yaml',
      'config/blueprints/script/me/other-domain.yaml',
    ]);
  });
});

describe('secrets', () => {
  test('become a HubSecrets with the keys that are used, and no file has a value', async () => {
    const files = {
      'configuration.yaml': `${MAIN}a: !secret url\n`,
      'packages/a.yaml': 'a: !secret pin\n',
      'secrets.yaml': 'url: http://hidden\npin: "1234-hidden"\nother: hidden\n',
    };
    const { files: made, secret, stays, warnings } = await converted(files);
    expect(secret).toEqual({ name: 'villa-passwords', keys: ['pin', 'url'] });
    expect(made.map(({ text }) => text).join('\n')).not.toContain('hidden');
    expect(parse(made.find(({ path }) => path === 'hub-secrets.yaml')!.text)).toMatchObject({
      kind: 'HubSecrets',
      spec: { secretRefs: [{ name: 'villa-passwords', keys: ['pin', 'url'] }] },
    });
    expect(stays).toEqual([{ path: 'secrets.yaml', reason: 'nothing uses 1 of its keys' }]);
    expect(warnings).toEqual([]);
  });

  const places = async (files: Files) => {
    const { warnings } = await converted(files);
    return warnings.map(({ message }) => message.replace(/ looks like.*|, which must.*/, ''));
  };

  test('are named where their values stand outside of secrets.yaml', async () => {
    const files = {
      'configuration.yaml': `${MAIN}# was hunter33value\nhomeassistant_x: !secret word\n`,
      'packages/a.yaml':
        'a: [x, "say hunter33value", xhunter33value]\nb: 1hunter33value2\nc: hunter33value\n',
      'packages/b.yaml': 'homeassistant_x: notify.phone_1\n',
      'packages/c.yaml': 'b: xhunter33valuex\n',
      'custom_templates/a.jinja': '{# hunter33value #}',
      'automations.yaml': '- {id: "1", alias: A, triggers: [], actions: [{delay: "hunter33value"}]}\n',
      'notes.txt': 'hunter33value',
      'secrets.yaml': 'used: hunter33value\nword: homeassistant_x\nentity: notify.phone_1\npin: 1234\n',
    };
    const at = (place: string) => `${place}: it has the value of the key used of secrets.yaml`;
    const found = await places(files);
    expect(found.sort()).toEqual([
      at('automations.yaml, line 1'),
      at('configuration.yaml, line 4'),
      at('custom_templates/a.jinja, line 1'),
      at('packages/a.yaml, line 1'),
    ]);
    expect(found.join()).not.toContain('hunter');
  });

  test('are named in comments, templates, blueprints and under other names of keys', async () => {
    const files = {
      'configuration.yaml': [
        '# password: hunter22',
        'a: "#" # see http://me:hunter22@host',
        'b: {X-Api-Key: 0123abcd, psk: my wifi words, pass: hunter22}',
        '# token: the one of the router, see below',
        'c: {token: see, password: "{{ x }}", monkey: banana}',
        'd: "http://me:hunter22@host/" # http://me:hunter22@host/',
      ].join('\r\n'),
      'blueprints/script/me/a.yaml': 'a:\n  password: hunter22\n',
      'custom_templates/a.jinja': '{% set api_key = "a" %}\n{{ "Bearer abcd12345678" }}\n',
    };
    const found = await places(files);
    expect([...found].sort()).toEqual([
      'blueprints/script/me/a.yaml, line 2: the line',
      'configuration.yaml, line 1: the comment',
      'configuration.yaml, line 2: the comment',
      'configuration.yaml, line 3, column 16: X-Api-Key',
      'configuration.yaml, line 3, column 31: psk',
      'configuration.yaml, line 3, column 52: pass',
      'configuration.yaml, line 6, column 4: the text',
      'custom_templates/a.jinja, line 2: the line',
    ]);
  });

  test('of folders belong into the same Secret, and a file that cannot be read is an error', async () => {
    const given = (ofFolder: string) => ({
      'configuration.yaml': `${MAIN}a: !secret a\nb: !include secrets.yaml\n`,
      'packages/a.yaml': 'a: !secret q\nb: !secret a\n',
      'packages/secrets.yaml': ofFolder,
      'secrets.yaml': 'a: hidden-1\n',
    });
    const { secret, stays, warnings, errors } = await converted(given('q: hidden-2\na: hidden-3\n'));
    expect(secret?.keys).toEqual(['a', 'q']);
    expect(stays).toEqual([
      { path: 'packages/secrets.yaml', reason: 'its keys belong into the Secret, too' },
    ]);
    expect(errors).toEqual([]);
    expect(warnings.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^!secret a has a value in secrets\.yaml and another one in that of a folder/),
    ]);
    const unread = await converted(given('q: [\n'));
    expect(unread.errors).toEqual([
      expect.stringMatching(/^packages\/secrets\.yaml, line 2, cannot be read: /),
    ]);
    expect(unread.warnings).toEqual([]);
  });

  test('that secrets.yaml does not contain, or that a Secret cannot contain, are named', async () => {
    const { warnings } = await converted({
      'configuration.yaml': 'a: !secret url\nb: !secret "a b"\n',
      'secrets.yaml': 'other: |\n  url: in a value\n',
    });
    expect(warnings.map(({ message }) => message).join('\n')).toMatch(
      /secrets\.yaml has no url[^]*|!secret a b: a Secret has no such key/,
    );
    expect(warnings).toHaveLength(2);
    const { warnings: alone } = await converted({ 'configuration.yaml': 'b: !secret "a b"\n' });
    expect(alone).toHaveLength(1);
  });

  test('may be more than 256, the limit of a list', async () => {
    const uses = (count: number) =>
      Array.from({ length: count }, (_, index) => `k${index}: !secret s${index}\n`).join('');
    const listed = async (count: number) =>
      (await resource({ 'configuration.yaml': uses(count) }, 'hub-secrets.yaml')).spec['secretRefs'] as [
        object,
      ];
    expect((await listed(256))[0]).toHaveProperty('keys');
    expect((await listed(257))[0]).toEqual({ name: 'villa-passwords' });
  });
});

describe('definitions', () => {
  test('of automations.yaml become resources with the current names of keys', async () => {
    const text = [
      '- id: "17"',
      '  alias: Küche an',
      '  trigger: [{platform: state, entity_id: light.a, to: "on"}]',
      '  action: [{service: light.turn_on, entity_id: light.b}]',
      '- alias: Without an id',
      '  triggers: []',
      '  actions: []',
    ].join('\n');
    const files = { 'automations.yaml': text };
    expect((await resource(files, 'automations/kuche-an.yaml')).spec).toEqual({
      hubRef: { name: 'villa' },
      hubId: '17',
      alias: 'Küche an',
      triggers: [{ trigger: 'state', entity_id: 'light.a', to: 'on' }],
      actions: [{ action: 'light.turn_on', entity_id: 'light.b' }],
    });
    expect((await resource(files, 'automations/without-an-id.yaml')).spec).not.toHaveProperty('hubId');
  });

  test('of scripts.yaml and scenes.yaml, and zones of the UI', async () => {
    const files = {
      'automations.yaml': '[]',
      'scripts.yaml': 'good_night: {alias: Good night, sequence: [{delay: 1}]}\n',
      'scenes.yaml': '- {id: "1", name: Film, entities: {light.a: on}}\n',
      '.storage/zone':
        '{"data": {"items": [{"id": "school", "name": "School", "latitude": 1.5, "longitude": 2, "radius": 9, "passive": false}]}}',
    };
    const { files: made, notExpressed } = await converted(files);
    expect(made.map(({ path }) => path)).toEqual([
      'zones/school.yaml',
      'scenes/film.yaml',
      'scripts/good-night.yaml',
      'kustomization.yaml',
    ]);
    expect(notExpressed).toEqual([]);
    expect(parse(made[0]!.text)).toMatchObject({
      spec: { name: 'School', latitude: '1.5', longitude: '2', radius: 9 },
    });
    expect(parse(made[1]!.text)).toMatchObject({
      spec: { hubId: '1', entities: [{ entity_id: 'light.a', state: 'on' }] },
    });
  });

  test('have the ids and the values that the hub reads, not those of another YAML parser', async () => {
    const files = {
      'automations.yaml': [
        '- {id: 1e3, alias: A, triggers: [{trigger: state, to: 0o17, for: 12:30:00}], actions: []}',
        '- {id: 017, alias: B, triggers: [], actions: []}',
      ].join('\n'),
    };
    expect((await resource(files, 'automations/a.yaml')).spec).toMatchObject({
      hubId: '1e3',
      triggers: [{ to: '0o17', for: 45_000 }],
    });
    expect((await resource(files, 'automations/b.yaml')).spec).toMatchObject({ hubId: '15' });
  });

  test('have the numbers of tags, and keys without a name as the hub shows them; other types are named', async () => {
    const data = '{null: a, ~x: b, n: {? : c, true: d}, x: !!float 3, t: !!timestamp 2026-01-02}';
    const files = {
      'automations.yaml': [
        `- {id: "1", alias: A, triggers: [], actions: [{event: e, event_data: ${data}}]}`,
        '- {id: "2", alias: B, triggers: [], actions: [{event: e, event_data: {x: !!set {a, b}}}]}',
        '- {id: "3", alias: C, triggers: [], actions: [{event: e, event_data: {x: !!binary aGVsbG8=}}]}',
      ].join('\n'),
    };
    expect((await resource(files, 'automations/a.yaml')).spec['actions']).toEqual([
      {
        event: 'e',
        event_data: { null: 'a', '~x': 'b', n: { null: 'c', true: 'd' }, x: 3, t: '2026-01-02' },
      },
    ]);
    expect((await converted(files)).notExpressed.map(({ reason }) => reason)).toEqual(
      ['!!set', '!!binary'].map(
        (tag) => `It uses ${tag}, which a resource cannot: write the value itself, or keep it in a package.`,
      ),
    );
  });

  test('with one id become one resource, since the hub has only one of them', async () => {
    const automation = (id: string) => `- {id: ${id}, alias: A, triggers: [], actions: []}\n`;
    const { files, notExpressed } = await converted({
      'automations.yaml': `${automation('"1"')}${automation('"2"')}${automation('1')}`,
    });
    expect(files.map(({ path }) => path)).toEqual([
      'automations/a.yaml',
      'automations/a-2.yaml',
      'kustomization.yaml',
    ]);
    expect(notExpressed).toEqual([
      {
        object: 'automations.yaml, line 3',
        reason:
          'The one in line 1 has the same id 1, and the hub ignores this one: give it an id of its own.',
      },
    ]);
  });

  test('may have anchors, and none hides a secret', async () => {
    const files = {
      'automations.yaml': [
        '- {id: "1", alias: A, triggers: &none [], actions: [{delay: &k !secret k}]}',
        '- {id: "2", alias: B, triggers: *none, actions: [{delay: *k}]}',
        '- {id: "3", alias: C, triggers: *none, actions: [{delay: 5}]}',
      ].join('\n'),
    };
    const { notExpressed } = await converted(files);
    expect(notExpressed.map(({ object }) => object)).toEqual([
      'automations.yaml, line 1',
      'automations.yaml, line 2',
    ]);
    expect((await resource(files, 'automations/c.yaml')).spec).toMatchObject({
      triggers: [],
      actions: [{ delay: 5 }],
    });
  });

  test('zones in a copy that was cut off are named', async () => {
    const { notExpressed } = await converted({ 'automations.yaml': '[]', '.storage/zone': '{"data": {' });
    expect(notExpressed).toEqual([
      { object: '.storage/zone', reason: expect.stringContaining('It is no JSON') },
    ]);
  });

  test('that cannot become a resource are named with file and line, and the others are converted', async () => {
    const { files, notExpressed } = await converted({
      'automations.yaml': [
        '- {id: "1", alias: A, triggers: [], actions: [{action: a.b, data: {x: !secret k}}]}',
        '- {id: "2", alias: B, triggers: [], actions: []}',
        '- text',
      ].join('\n'),
      'scripts.yaml': 'a: {sequence: []\n',
      'scenes.yaml': 'just a text\n',
    });
    expect(files.map(({ path }) => path)).toEqual(['automations/b.yaml', 'kustomization.yaml']);
    expect(notExpressed).toEqual([
      { object: 'automations.yaml, line 1', reason: expect.stringContaining('It uses !secret') },
      { object: 'automations.yaml, line 3', reason: 'It is no mapping.' },
      { object: 'scenes.yaml, line 1', reason: 'It is not a list of scenes.' },
      { object: expect.stringMatching(/^scripts\.yaml, line \d$/), reason: expect.any(String) },
    ]);
  });

  test.each([
    ['a list of automations', '- {alias: A, id: "1", trigger: [], action: []}', 'automations/a.yaml'],
    ['one automation', 'alias: A\ntriggers: []\nactions: []\n', 'automations/a.yaml'],
    ['scripts', 'a: {alias: A, sequence: [{delay: 1}]}\n', 'scripts/a.yaml'],
    ['a scene', 'name: A\nentities: {light.a: on}\n', 'scenes/a.yaml'],
    ['a configuration', 'logger:\n', 'hub-configuration.yaml'],
  ])('a pasted file with %s is recognized by its form', async (_, text, path) => {
    const file = join(await write({ 'pasted.yaml': text }), 'pasted.yaml');
    const { files } = await convert(await readSource(file, ''), { hub: 'villa' }, unbounded);
    expect(files[0]!.path).toBe(path);
  });

  test('keys are renamed where the hub has actions and triggers, and nowhere else', () => {
    const call = { service: 'a.b', data: { service: 'kept', platform: 'kept' } };
    const renamed = { action: 'a.b', data: { service: 'kept', platform: 'kept' } };
    expect(
      withModernKeys({
        alias: 'A',
        variables: { service: 'kept' },
        trigger: { platform: 'time', at: '07:00' },
        action: [
          call,
          { choose: [{ conditions: [], sequence: [call] }], default: call },
          { repeat: { count: 2, sequence: [call] } },
          { if: [], then: [call], else: [call] },
          { parallel: [{ sequence: [call] }, call] },
          { wait_for_trigger: [{ platform: 'state', entity_id: 'a.b' }] },
        ],
      }),
    ).toEqual({
      alias: 'A',
      variables: { service: 'kept' },
      trigger: { trigger: 'time', at: '07:00' },
      action: [
        renamed,
        { choose: [{ conditions: [], sequence: [renamed] }], default: renamed },
        { repeat: { count: 2, sequence: [renamed] } },
        { if: [], then: [renamed], else: [renamed] },
        { parallel: [{ sequence: [renamed] }, renamed] },
        { wait_for_trigger: [{ trigger: 'state', entity_id: 'a.b' }] },
      ],
    });
  });
});

describe('plain texts', () => {
  // Values as PyYAML reads them, with which the hub reads its files. Dates stay texts here.
  test.each<[expected: unknown, ...texts: readonly string[]]>([
    [true, 'on', 'Yes', 'TRUE'],
    [false, 'No', 'off'],
    [null, '~', 'NULL', ''],
    [0, '0', '00'],
    [1, '+1', '0x_1', '1_'],
    [-1, '-0b1'],
    [7, '0_7'],
    [10, '1__0'],
    [15, '017'],
    [-15, '-017'],
    [31, '0x1F'],
    [90, '1:30'],
    [45_000, '12:30:00'],
    [-45_000, '-12:30:00'],
    [0.5, '.5', '0.5'],
    [1, '1.'],
    [50, '.5e+2'],
    [1500, '1.5e+3'],
    [685_230.15, '190:20:30.15', '685.230_15e+03'],
    [Infinity, '.inf', '+.INF'],
    [-Infinity, '-.Inf'],
    [NaN, '.NaN'],
  ])('%j is written as %j, %j', (expected, ...texts) => {
    for (const text of texts) expect([text, Number(value(text) ?? 0)]).toEqual([text, Number(expected)]);
    for (const text of texts) expect(value(text) === null).toBe(expected === null);
  });

  test.each(
    '0o17 1e3 y 1.5e3 1e-3 09 = 1e+3 -0o7 0b 08 +.5 -.5 . _1 nUll tRue 1:60 01:30 07:30:00 2001-01-01'.split(
      ' ',
    ),
  )('%s is a text', (text) => {
    expect(value(text)).toBe(text);
  });

  // The values that PyYAML 6.0.3 gives, Infinity for inf.
  test.each<[text: string, value: unknown]>([
    ['!!float 3', 3],
    ['!!float "3"', 3],
    ['!!float " +3 "', 3],
    ['!!float 012', 12],
    ['!!float 1e3', 1000],
    ['!!float "1_0"', 10],
    ['!!float 1:30', 90],
    ['!!float "-1:30.5"', -90.5],
    ['!!float -.INF', -Infinity],
    ['!!float |-\n 3', 3],
    ['!!int "5"', 5n],
    ['!!int "0x1F"', 31n],
    ['!!int 0o17', 15n],
    ['!!int "-0b11"', -3n],
    ['!!int 1:30', 90n],
    ['!!bool "yes"', true],
    ['!!bool oFF', false],
    ['!!null foo', null],
    ['!!str 5', '5'],
  ])('%j with a tag is read as %p', (text, expected) => expect(value(text)).toBe(expected));

  test.each(['!!float foo', '!!float ""', '!!float 0x10', '!!int 08', '!!int "5.0"', '!!bool foo'])(
    '%j is an error, as the hub does not load the file',
    (text) => expect(parseDocument(text, hubReading).errors).toHaveLength(1),
  );

  const value = (text: string): unknown => parseDocument(text, hubReading).toJS() as unknown;
});

describe('ConfigMaps', () => {
  test('have at most 200 KiB, and several for one folder are numbered', () => {
    const files = Object.fromEntries(
      ['a', 'b', 'c'].map((name) => [`packages/${name}.yaml`, 'x'.repeat(90 * 1024)]),
    );
    expect(planConfigMaps('villa', files).map(({ name, files: planned }) => [name, planned.length])).toEqual([
      ['villa-packages', 2],
      ['villa-packages-2', 1],
    ]);
  });

  test('have no name that the operator uses itself', () => {
    const paths = [
      'configuration/a.yaml',
      'configuration/1/a.yaml',
      'delivery/0/a.yaml',
      'operator ip/a.yaml',
    ];
    const names = planConfigMaps('villa', Object.fromEntries([...paths, 'a.yaml'].map((path) => [path, ''])));
    expect(names.map(({ name }) => name)).toEqual([
      'villa-files',
      'villa-files-configuration-1',
      'villa-files-configuration',
      'villa-files-delivery-0',
      'villa-files-operator-ip',
    ]);
  });

  test('are combined as far as possible when there are too many folders at the top', () => {
    const paths = Array.from({ length: 40 }, (_, index) => `room ${index}/main.yaml`);
    const plans = planConfigMaps('villa', Object.fromEntries(paths.map((path) => [path, ''])));
    expect(plans.map(({ name, folder, files }) => [name, folder, files.length])).toEqual([
      ['villa-files', '', 40],
    ]);
    const { items } = filesFromOf(plans[0]!) as { items: { path: string }[] };
    expect(items.map(({ path }) => path).sort()).toEqual(paths.sort());
  });

  test('are those of the top folders when there are too many', () => {
    const paths = Array.from({ length: 40 }, (_, index) => `packages/room ${index}/main.yaml`);
    const [plan, ...others] = planConfigMaps('villa', Object.fromEntries(paths.map((path) => [path, ''])));
    expect(others).toEqual([]);
    expect(new Set(plan!.files.map(({ key }) => key)).size).toBe(40);
    const { items } = filesFromOf(plan!) as { items: { path: string }[] };
    expect(items.map(({ path }) => `packages/${path}`).sort()).toEqual(paths.sort());
  });
});

describe('a backup', () => {
  const tar = async (files: Files) => {
    const archive = pack();
    for (const [name, content] of Object.entries(files)) archive.entry({ name }, content as Buffer);
    archive.finalize();
    return buffer(archive as never);
  };
  const backup = async (description: object, data: Files, name = 'homeassistant.tar.gz') =>
    tar({ './backup.json': JSON.stringify(description), [`./${name}`]: gzipSync(await tar(data)) });

  const read = async (content: Buffer) => {
    await write({ 'a.tar': content }, 'backups');
    return readSource(join(folder, 'backups', 'a.tar'), '');
  };

  test('is read like a folder, and nothing is written outside of it', async () => {
    const { files, left } = await read(
      await backup(
        { protected: false },
        {
          'data/configuration.yaml': MAIN,
          './data/packages/a.yaml': '{}\n',
          'data/www/a.yaml': 'no',
          'data/../../evil.yaml': 'no',
          'other/b.yaml': 'no',
        },
      ),
    );
    expect(files).toEqual({ 'configuration.yaml': MAIN, 'packages/a.yaml': '{}\n' });
    expect(left.map(({ path }) => path)).toEqual(['www/']);
  });

  test('has links and devices, which are named and not followed', async () => {
    const archive = pack();
    archive.entry({ name: 'data/configuration.yaml' }, MAIN);
    archive.entry({ name: 'data/packages/', type: 'directory' });
    archive.entry({ name: 'data/packages/a.yaml', type: 'symlink', linkname: '/etc/passwd' });
    archive.entry({ name: 'data/packages/b.yaml', type: 'link', linkname: 'data/configuration.yaml' });
    archive.entry({ name: 'data/packages/c.yaml', type: 'fifo' });
    archive.finalize();
    const inner = gzipSync(await buffer(archive as never));
    const source = await read(await tar({ 'homeassistant.tar.gz': inner }));
    expect(source.left.map(({ path }) => path)).toEqual(
      ['a', 'b', 'c'].map((name) => `packages/${name}.yaml`),
    );
    const { errors } = await convert(source, { hub: 'villa' }, unbounded);
    expect(errors[0]).toMatch(/^packages\/a\.yaml is included: it is a link or a device/);
  });

  test('may be compressed, and its inner archive may be named alone', async () => {
    const data = { 'data/configuration.yaml': MAIN };
    const outer = gzipSync(await backup({}, data));
    await write({ 'a.tar.gz': outer, 'homeassistant.tar.gz': gzipSync(await tar(data)) }, 'backups');
    for (const name of ['a.tar.gz', 'homeassistant.tar.gz'])
      expect((await readSource(join(folder, 'backups', name), '')).files).toEqual({
        'configuration.yaml': MAIN,
      });
  });

  test('that is encrypted says so wherever its description stands', async () => {
    const content = await tar({
      './homeassistant.tar.gz': Buffer.from('encrypted bytes'),
      './backup.json': '{"protected": true}',
    });
    await expect(read(content)).rejects.toThrow('is encrypted: download it without encryption');
  });

  test.each([
    [
      'encrypted',
      async () => backup({ protected: true }, {}),
      'is encrypted: download it without encryption',
    ],
    ['without the settings', async () => tar({ './backup.json': '{}' }), 'has no homeassistant.tar.gz'],
    ['of something else', async () => backup({}, { 'data/a.yaml': '' }), 'has no data/configuration.yaml'],
    [
      'of encrypted bytes without a description',
      () => tar({ 'homeassistant.tar.gz': Buffer.from('SecureTar\x02') }),
      'as a backup of Home Assistant: it is damaged or encrypted (',
    ],
    ['no tar', () => Promise.resolve(Buffer.alloc(2048, 'x')), 'as a backup of Home Assistant: '],
    [
      'cut off',
      async () => (await backup({}, { 'data/configuration.yaml': MAIN })).subarray(0, 1_600),
      'as a backup of Home Assistant: ',
    ],
  ])('that is %s is refused with a reason', async (_, make, words) => {
    await expect(make().then(read)).rejects.toThrow(words);
  });
});

describe('a source', () => {
  test.each([
    ['none', 'cannot read', 'ENOENT'],
    ['empty', 'has neither configuration.yaml nor automations.yaml', 'name a copy of the folder /config'],
  ])('%s is refused with a reason', async (path, ...words) => {
    await write({ 'a.txt': '' }, 'empty');
    const reading = readSource(join(folder, path), '');
    for (const each of words) await expect(reading).rejects.toThrow(each);
  });

  test('has no file of a former conversion', async () => {
    const source = await write({
      'configuration.yaml': '',
      'home/hub-configuration.yaml': '',
      'home/kustomization.yaml': '',
      'a/home/b.yaml': '',
    });
    await symlink(source, join(folder, 'link'));
    for (const from of [source, join(folder, 'link')])
      for (const to of [join(source, 'home', '.'), join(folder, 'link', 'home')]) {
        const { files } = await readSource(from, to);
        expect(Object.keys(files)).toEqual(['a/home/b.yaml', 'configuration.yaml']);
      }
  });

  test.each(['.', 'packages', '../link', '../link/packages'])(
    'is not the folder for the result: %s',
    async (to) => {
      const source = await write({ 'configuration.yaml': MAIN, 'packages/a.yaml': '{}\n' });
      await symlink(source, join(folder, 'link'));
      const output = join(source, to);
      await expect(readSource(source, output)).rejects.toThrow(
        `--to ${output} is a folder of the copy, which is not changed`,
      );
      for (const free of ['new', 'packages/new', '../config-git'])
        expect(Object.keys((await readSource(source, join(source, free))).files)).toHaveLength(2);
    },
  );

  test('has no file that is reached through a link', async () => {
    await write({ 'a.yaml': 'secret: of the machine\n' }, 'outside');
    const source = await write({ 'configuration.yaml': 'a: !include a.yaml\n' });
    await symlink(join(folder, 'outside', 'a.yaml'), join(source, 'a.yaml'));
    await symlink(join(folder, 'outside'), join(source, 'packages'));
    const { files, left } = await readSource(source, '');
    expect(Object.keys(files)).toEqual(['configuration.yaml']);
    expect(left.map(({ path }) => path)).toEqual(['a.yaml', 'packages']);
  });
});
