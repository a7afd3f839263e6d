/**
 * Files that the hub does not load, derived from its error classes and its sections: each is a good
 * configuration with one mistake.
 */

/** Top-level keys of `configuration.yaml` with their values as YAML, which begin on a line of their own. */
type Sections = Readonly<Record<string, string>>;

export interface WrongFile {
  readonly name: string;
  /** Sections that replace those of {@link good}, or are added. */
  readonly sections: Sections;
  readonly files?: Readonly<Record<string, string>>;
  /** Text that a message about the file contains. Default: a line number, or the section. */
  readonly says?: RegExp;
  /** Whether only the set-up of the platform in a running hub finds the mistake, and no check does. */
  readonly isFoundBySetUp?: boolean;
}

const INCLUDES = {
  automation: ' !include automations.yaml',
  scene: ' !include scenes.yaml',
  script: ' !include scripts.yaml',
};

const block = (...lines: readonly string[]): string => lines.map((line) => `\n${line}`).join('');

const AUTOMATION = block(
  '  - alias: Own automation',
  '    id: own',
  '    triggers:',
  '      - trigger: event',
  '        event_type: never',
  '    actions:',
  '      - action: persistent_notification.create',
  '        data: {message: x}',
);
const SCRIPT = block(
  '  own:',
  '    alias: Own script',
  '    sequence:',
  '      - action: persistent_notification.create',
  '        data: {message: x}',
);
const SCENE = block('  - name: Own scene', '    entities:', '      input_boolean.lamp: "on"');
const TEMPLATE = block('  - sensor:', '      - name: Own sensor', '        state: "{{ 1 + 1 }}"');

/** A configuration that the hub loads completely. */
const good: Sections = {
  ...INCLUDES,
  'automation own': AUTOMATION,
  'script own': SCRIPT,
  'scene own': SCENE,
  template: TEMPLATE,
  input_boolean: block('  lamp:', '    name: Lamp'),
};

/** The entities of the good configuration. */
export const GOOD_ENTITIES = [
  'automation.own_automation',
  'script.own',
  'scene.own_scene',
  'sensor.own_sensor',
  'input_boolean.lamp',
] as const;

export const textOf = (sections: Sections = {}): string =>
  Object.entries({ ...good, ...sections })
    .map(([key, value]) => `${key}:${value}\n`)
    .join('');

const wrong = (name: string, sections: Sections, others: Partial<WrongFile> = {}): WrongFile => ({
  name,
  sections,
  ...others,
});

/** Returns a mistake in one section of {@link good}: `from` is replaced by `to`. */
const edited = (section: string, from: string, to: string, others: Partial<WrongFile> = {}): WrongFile => {
  const value = good[section]!;
  if (!value.includes(from)) throw new Error(`cannot make a wrong file: ${section} has no ${from}`);
  return wrong(`${section}: ${to.trim()}`, { [section]: value.replace(from, to) }, others);
};

const added = (section: string, ...lines: readonly string[]): WrongFile =>
  wrong(`${section}: ${lines.join(' ').replace(/\s+/g, ' ').trim()}`, { [section]: block(...lines) });

const automation = (from: string, to: string) =>
  edited('automation own', from, to, { says: /Own automation|automation|line \d/ });
const script = (from: string, to: string) =>
  edited('script own', from, to, { says: /Own script|script|line \d/ });
const homeassistant = (...lines: readonly string[]) => added('homeassistant', ...lines);
/** Returns a mistake in a package. The hub names the package, or the item in it. */
const packaged = (...lines: readonly string[]): WrongFile => ({
  ...homeassistant('  packages:', ...lines),
  says: /package|line \d/i,
});

export const WRONG_FILES: readonly WrongFile[] = [
  // template
  edited('template', 'name:', 'nam:'),
  edited('template', '"{{ 1 + 1 }}"', '"{{ 1 + }}"'),
  edited('template', '- sensor:', '- sensr:'),
  edited('template', 'state:', 'stat:'),
  edited('template', 'name: Own sensor', 'name: Own sensor\n        device_class: nonsense'),
  edited('template', 'name: Own sensor', 'name: Own sensor\n        unique_id: [a]'),
  edited('template', '- sensor:', '- triggers:\n      - trigger: nonsense\n    sensor:'),
  // automation
  automation('triggers:', 'trigers:'),
  automation('trigger: event', 'trigger: nonsense'),
  automation('event_type: never', 'event_typ: never'),
  automation('actions:', 'actons:'),
  automation('action: persistent_notification.create', 'action: nodot'),
  automation('data: {message: x}', 'dat: {message: x}'),
  automation('id: own', 'id: own\n    mode: nonsense'),
  automation('id: own', 'id: own\n    conditions:\n      - condition: nonsense'),
  automation('id: own', 'id: own\n    conditions: "{{ 1 + }}"'),
  automation('id: own', 'id: own\n    max: many\n    mode: queued'),
  // script
  script('sequence:', 'sequenz:'),
  script('  own:', '  Own-Script:'),
  script('  own:', '  turn_on:'),
  script('action: persistent_notification.create', 'action: nodot'),
  script('alias: Own script', 'alias: Own script\n    mode: nonsense'),
  script('alias: Own script', 'alias: Own script\n    fields: [a]'),
  script('- action: persistent_notification.create', '- delay: nonsense\n      - action: a.b'),
  script('- action: persistent_notification.create', '- wait_template: "{{ 1 + }}"\n      - action: a.b'),
  // scene
  edited('scene own', 'entities:', 'entitis:'),
  edited('scene own', 'name:', 'nam:'),
  edited('scene own', 'input_boolean.lamp: "on"', '- input_boolean.lamp'),
  edited('scene own', 'input_boolean.lamp', 'nodot'),
  edited('scene own', '- name:', '- platform: nonsense\n    name:', { says: /scene|nonsense|line \d/ }),
  // blueprints
  wrong(
    'automation: a blueprint that is not there',
    { 'automation own': block('  - alias: Own automation', '    use_blueprint: {path: gone.yaml}') },
    { says: /gone\.yaml|blueprint/i },
  ),
  wrong(
    'script: a blueprint that is not there',
    { 'script own': block('  own:', '    use_blueprint: {path: gone.yaml}') },
    { says: /gone\.yaml|blueprint/i },
  ),
  wrong(
    'automation: a blueprint without its inputs',
    {
      'automation own': block(
        '  - alias: Own automation',
        '    use_blueprint: {path: homeassistant/motion_light.yaml, input: {}}',
      ),
    },
    { says: /blueprint|input/i },
  ),
  // packages
  packaged('    kitchen:', '      counter:', '        visits:', '          initial: many'),
  packaged('    kitchen:', '      nonsense_domain:'),
  packaged('    kitchen: [a]'),
  packaged('    "Not a slug":', '      counter:', '        visits:'),
  packaged('    kitchen:', '      input_boolean:', '        lamp:', '          name: Twice'),
  packaged(
    '    kitchen:',
    '      automation:',
    '        - alias: In the package',
    '          trigers: []',
    '          actions: []',
  ),
  packaged('    kitchen:', '      template:', '        - sensor:', '            - nam: In the package'),
  // homeassistant
  homeassistant('  latitude: north'),
  homeassistant('  time_zone: Moon/Base'),
  homeassistant('  unit_system: nonsense'),
  homeassistant('  currency: nonsense'),
  homeassistant('  country: Nowhere'),
  homeassistant('  allowlist_external_dirs: /nowhere-at-all'),
  homeassistant('  customize:', '    nodot: {icon: mdi:lamp}'),
  homeassistant('  nonsense: 1'),
  // platforms
  added('sensor', '  - platform: nonsense_platform'),
  added('sensor', '  - name: without a platform'),
  added('sensor', '  - platform: statistics', '    name: s'),
  added('binary_sensor', '  - platform: trend', '    sensors: [a]'),
  added('light', '  - platform: group', '    entities: nodot'),
  {
    ...added('sensor', '  - platform: template', '    sensors: {a: {value_template: "1"}}'),
    isFoundBySetUp: true,
    says: /sensor\.template: .* under the sensor platform key is not supported/,
  },
  // other sections
  added('nonsense_domain', '  a: 1'),
  added('input_number', '  x:', '    max: many'),
  added('logger', '  default: nonsense'),
  added('zone', '  - name: Nowhere'),
  added('rest', '  - resource: [a]'),
  added('utility_meter', '  m:', '    cycle: daily'),
  // includes
  wrong(
    'a variable of the environment that is not set',
    { logger: block('  default: !env_var NOWHERE') },
    {
      says: /NOWHERE|line \d/,
    },
  ),
  wrong('a tag that is none', { logger: ' !nonsense x' }, { says: /nonsense|line \d/ }),
  // Each of these has a new file, for which the pod is replaced.
  wrong(
    'an included file that is broken',
    { counter: ' !include counters.yaml' },
    {
      files: { 'counters.yaml': 'visits:\n  initial: many\n' },
      says: /counters\.yaml|counter|line \d/,
    },
  ),
  wrong(
    'an included file of another shape',
    { counter: ' !include counters.yaml' },
    {
      files: { 'counters.yaml': '- a\n- b\n' },
      says: /counters\.yaml|counter|line \d/,
    },
  ),
];
