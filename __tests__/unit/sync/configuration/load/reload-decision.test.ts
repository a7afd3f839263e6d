import {
  decideReload,
  type HubCapabilities,
  type ReloadDecision,
  type ReloadStrategy,
} from '../../../../../operator/sync/configuration/load/reload-decision';
import {
  readSections,
  type Sections,
  withSecretDigests,
} from '../../../../../operator/sync/configuration/generate/sections';

/** Services of a hub that has loaded the integrations of a plain configuration. */
const services = [
  'automation.reload',
  'scene.reload',
  'script.reload',
  'logger.set_level',
  'homeassistant.reload_core_config',
  'frontend.reload_themes',
  'input_boolean.reload',
  'template.reload',
  'group.reload',
  'mqtt.reload',
  'filter.reload',
  'conversation.reload',
  'homekit.reload',
  'own.reload',
];
const modern: HubCapabilities = { services: new Set(services), httpByApi: true, notSetUp: new Set() };
const old: HubCapabilities = { services: new Set(services), httpByApi: false, notSetUp: new Set() };

const sections = (configuration: string, secrets: Readonly<Record<string, string>> = {}): Sections =>
  withSecretDigests(readSections({ 'configuration.yaml': configuration }), (key) => secrets[key] ?? '');

function decide(
  strategy: ReloadStrategy,
  before: string,
  after: string,
  hub = modern,
  { autoRestart = true } = {},
): ReloadDecision {
  return decideReload({ strategy, autoRestart }, sections(before), sections(after), hub);
}

/** Describes a decision as `automation.reload`, `restart logger.filters`, `pending mqtt` or `nothing`. */
function inWords(decision: ReloadDecision): string {
  const words: string[] = [];
  if (decision.type === 'restart') words.push(`restart ${decision.because.join()}`);
  if (decision.type === 'hot-reload') {
    words.push(...decision.reloads.map(({ service }) => service));
    if (decision.pending.length > 0) words.push(`pending ${decision.pending.join()}`);
  }
  return words.join(', ') || 'nothing';
}

describe('decideReload', () => {
  test.each<[ReloadStrategy, string]>([
    ['auto', 'homeassistant.reload_custom_templates'],
    ['hot-reload', 'homeassistant.reload_custom_templates'],
    ['restart', 'restart homeassistant.custom_templates'],
  ])('a custom template that is changed or gone, with %s', (strategy, expected) => {
    const hub = { ...modern, services: new Set([...services, 'homeassistant.reload_custom_templates']) };
    const policy = { strategy, autoRestart: true };
    const before = readSections({ 'configuration.yaml': '', 'custom_templates/a.jinja': 'a' });
    for (const files of [{ 'custom_templates/a.jinja': 'b' }, {}]) {
      const after = readSections({ 'configuration.yaml': '', ...files });
      expect(inWords(decideReload(policy, before, after, hub))).toBe(expected);
    }
  });

  // The table of docs/explanation/hot-reload.md for the three strategies.
  test.each<
    [section: string, before: string, after: string, auto: string, hotReload: string, hub?: HubCapabilities]
  >([
    ['nothing', 'logger:\n', '# a comment\nlogger:   \n', 'nothing', 'nothing'],
    [
      'automation',
      'automation: []\n',
      'automation: [{alias: a}]\n',
      'automation.reload',
      'automation.reload',
    ],
    ['a labelled automation', '', 'automation ui: []\n', 'automation.reload', 'automation.reload'],
    ['scene', 'scene: []\n', 'scene: [{name: a}]\n', 'scene.reload', 'scene.reload'],
    [
      'scenes of a platform, removed',
      'scene: [{platform: homeassistant}]\n',
      '',
      'restart scene.homeassistant',
      'pending scene.homeassistant',
    ],
    ['script', 'script: {}\n', 'script: {a: {sequence: []}}\n', 'script.reload', 'script.reload'],
    [
      'logger',
      'logger: {default: info}\n',
      'logger: {default: debug}\n',
      'logger.set_level',
      'logger.set_level',
    ],
    ['logger, removed', 'logger: {default: info}\n', '', 'logger.set_level', 'logger.set_level'],
    [
      'filters of logger',
      'logger: {}\n',
      'logger: {filters: {a: [b]}}\n',
      'restart logger.filters',
      'pending logger.filters',
    ],
    [
      'the core section',
      'homeassistant: {name: A}\n',
      'homeassistant: {name: B}\n',
      'restart homeassistant',
      'homeassistant.reload_core_config',
    ],
    [
      'customize',
      'homeassistant: {name: A}\n',
      'homeassistant: {name: A, customize: {sun.sun: {icon: b}}}\n',
      'restart homeassistant',
      'homeassistant.reload_core_config',
    ],
    [
      'auth_providers',
      'homeassistant: {name: A}\n',
      'homeassistant: {name: A, auth_providers: []}\n',
      'restart homeassistant.auth_providers',
      'pending homeassistant.auth_providers',
    ],
    [
      'an automation in a package',
      'homeassistant: {packages: {a: {automation: []}}}\n',
      'homeassistant: {packages: {a: {automation: [{alias: b}]}}}\n',
      'automation.reload',
      'automation.reload',
    ],
    [
      'a directory of packages',
      'homeassistant: {packages: !include_dir_named a}\n',
      'homeassistant: {packages: !include_dir_named b}\n',
      'restart homeassistant.packages',
      'pending homeassistant.packages',
    ],
    [
      'a reload of another meaning',
      'homekit: {}\n',
      'homekit: {a: 1}\n',
      'restart homekit',
      'pending homekit',
    ],
    ['a custom integration', 'own: {}\n', 'own: {a: 1}\n', 'restart own', 'pending own'],
    ['http before 2026.8', 'http: {}\n', 'http: {server_port: 1}\n', 'restart http', 'pending http', old],
    ['mqtt', 'mqtt: []\n', 'mqtt: [{sensor: []}]\n', 'restart mqtt', 'mqtt.reload'],
    ['mqtt, removed', 'mqtt: [{sensor: []}]\n', '', 'restart mqtt', 'mqtt.reload'],
    [
      'mqtt that is not loaded',
      '',
      'mqtt: []\n',
      'restart mqtt',
      'pending mqtt',
      { ...modern, services: new Set() },
    ],
    [
      'a helper',
      'input_boolean: {}\n',
      'input_boolean: {a: }\n',
      'input_boolean.reload',
      'input_boolean.reload',
    ],
    ['a new helper', '', 'input_boolean: {a: }\n', 'input_boolean.reload', 'input_boolean.reload'],
    ['a removed helper', 'input_boolean: {a: }\n', '', 'input_boolean.reload', 'input_boolean.reload'],
    ['template', 'template: []\n', 'template: [{sensor: []}]\n', 'template.reload', 'template.reload'],
    ['template, removed', 'template: []\n', '', 'restart template', 'pending template'],
    ['group', 'group: {}\n', 'group: {a: {entities: []}}\n', 'group.reload', 'group.reload'],
    [
      'a section without a reload',
      'recorder: {}\n',
      'recorder: {auto_purge: false}\n',
      'restart recorder',
      'pending recorder',
    ],
    ['an unknown section', '', 'nonsense: {}\n', 'restart nonsense', 'pending nonsense'],
    [
      'themes',
      'frontend:\n  themes: {}\n',
      'frontend:\n  themes: {a: {}}\n',
      'frontend.reload_themes',
      'frontend.reload_themes',
    ],
    [
      'another key of frontend',
      'frontend: {}\n',
      'frontend: {javascript_version: 1}\n',
      'restart frontend',
      'pending frontend',
    ],
    [
      'a platform that can be reloaded',
      'sensor: [{platform: filter, a: 1}, {platform: fitbit}]\n',
      'sensor: [{platform: filter, a: 2}, {platform: fitbit}]\n',
      'filter.reload',
      'filter.reload',
    ],
    [
      'a platform that cannot be reloaded',
      'sensor: [{platform: filter}, {platform: fitbit, a: 1}]\n',
      'sensor: [{platform: filter}, {platform: fitbit, a: 2}]\n',
      'restart sensor.fitbit',
      'pending sensor.fitbit',
    ],
    [
      'several sections',
      '',
      'automation: []\ninput_boolean:\ncounter:\n',
      'restart counter',
      'automation.reload, input_boolean.reload, pending counter',
    ],
  ])('%s', (_, before, after, auto, hotReload, hub = modern) => {
    expect(inWords(decide('auto', before, after, hub))).toBe(auto);
    expect(inWords(decide('hot-reload', before, after, hub))).toBe(hotReload);
    const restart = decide('restart', before, after, hub);
    expect(restart.type).toBe(auto === 'nothing' ? 'nothing' : 'restart');
    expect(restart.type === 'restart' && restart.because).toEqual(auto !== 'nothing' && expect.any(Array));
  });

  test('http is not read from the file since 2026.8, except under restart', () => {
    const words = (strategy: ReloadStrategy) =>
      inWords(decide(strategy, 'http: {}\n', 'http: {server_port: 1}\n'));
    expect([words('auto'), words('hot-reload'), words('restart')]).toEqual([
      'nothing',
      'nothing',
      'restart http',
    ]);
  });

  test('a part that the hub has not set up needs nothing for its removal, and a restart for its change', () => {
    const hub = { ...modern, notSetUp: new Set(['counter', 'sensor.statistics']) };
    const before = 'counter: {a: {}}\nsensor: [{platform: statistics}]\nzone: []\n';
    expect(inWords(decide('auto', before, 'zone: []\n', hub))).toBe('nothing');
    expect(inWords(decide('auto', before, 'counter: {b: {}}\nzone: []\n', hub))).toBe('restart counter');
    expect(inWords(decide('auto', before, '', hub))).toBe('restart zone');
  });

  test('one call serves all sections of a service', () => {
    const decision = decide(
      'auto',
      '',
      'sensor: [{platform: filter}]\nbinary_sensor: [{platform: filter}]\n',
    );
    expect(decision).toMatchObject({
      type: 'hot-reload',
      reloads: [{ service: 'filter.reload', sections: ['binary_sensor.filter', 'sensor.filter'] }],
    });
  });

  describe('for a changed secret', () => {
    const configuration = 'input_boolean: {a: {name: !secret name}}\ncounter: {a: {name: !secret other}}\n';
    const changed = (key: string, strategy: ReloadStrategy, autoRestart: boolean) =>
      inWords(
        decideReload(
          { strategy, autoRestart },
          sections(configuration, { name: 'a', other: 'a' }),
          sections(configuration, { name: 'a', other: 'a', [key]: 'b' }),
          modern,
        ),
      );

    test.each<[string, ReloadStrategy, boolean, string]>([
      ['name', 'auto', true, 'input_boolean.reload'],
      ['name', 'auto', false, 'input_boolean.reload'],
      ['name', 'restart', true, 'restart input_boolean'],
      ['name', 'restart', false, 'pending input_boolean'],
      ['other', 'auto', true, 'restart counter'],
      ['other', 'auto', false, 'pending counter'],
      ['other', 'hot-reload', true, 'pending counter'],
      ['unused', 'auto', true, 'nothing'],
      ['unused', 'restart', true, 'nothing'],
    ])('%s under %s with autoRestart %s: %s', (key, strategy, autoRestart, expected) => {
      expect(changed(key, strategy, autoRestart)).toBe(expected);
    });

    test('autoRestart: false prevents no restart that the text needs', () => {
      const before = sections('counter: {a: {name: !secret other}}\n', { other: 'a' });
      const after = sections('counter: {b: {name: !secret other}}\n', { other: 'b' });
      const decision = decideReload({ strategy: 'auto', autoRestart: false }, before, after, modern);
      expect(inWords(decision)).toBe('restart counter');
    });
  });
});
