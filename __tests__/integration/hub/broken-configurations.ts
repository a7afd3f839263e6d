/** A change that the hub rejects, and the words of the condition. */
interface Broken {
  readonly name: string;
  readonly text: string;
  /** The section or key, and file and line where the hub reports them. */
  readonly says: readonly (string | RegExp)[];
}

const at = (line: number): RegExp => new RegExp(`configuration\\.yaml.?, line ${line}\\b`);

/**
 * Configurations that trigger the errors of Home Assistant's loader, its core schema, integrations and
 * platforms.
 */
export const BROKEN: readonly Broken[] = [
  // The loader.
  {
    name: 'an include of a missing file',
    text: 'sensor: !include nowhere.yaml\n',
    says: ['nowhere.yaml', at(1)],
  },
  { name: 'an unknown tag', text: 'sensor:\n  - platform: !what x\n', says: ['!what', at(2)] },
  {
    name: 'an environment variable that is not there',
    text: 'zone:\n  - name: !env_var NOT_HERE\n',
    says: ['NOT_HERE'],
  },
  { name: 'an include without an argument', text: 'zone: !include\n', says: ['!include', /line 1/] },
  // The core.
  {
    name: 'a latitude that is none',
    text: 'homeassistant:\n  latitude: 91\n',
    says: ['homeassistant', 'latitude', at(2)],
  },
  {
    name: 'an unknown unit system',
    text: 'homeassistant:\n  unit_system: furlongs\n',
    says: ['homeassistant', 'unit_system', at(2)],
  },
  {
    name: 'a time zone that is none',
    text: 'homeassistant:\n  time_zone: Mars/Base\n',
    says: ['homeassistant', 'time_zone', at(2)],
  },
  {
    name: 'an unknown key of the core',
    text: 'homeassistant:\n  colour: blue\n',
    says: ['homeassistant', 'colour', at(2)],
  },
  {
    name: 'a currency that is none',
    text: 'homeassistant:\n  currency: shells\n',
    says: ['homeassistant', 'currency', at(2)],
  },
  {
    name: 'a country that is none',
    text: 'homeassistant:\n  country: Narnia\n',
    says: ['homeassistant', 'country', at(2)],
  },
  {
    name: 'customize that is a list',
    text: 'homeassistant:\n  customize: [1]\n',
    says: ['homeassistant', 'customize'],
  },
  {
    name: 'a directory that is not there',
    text: 'homeassistant:\n  allowlist_external_dirs: [/nowhere]\n',
    says: ['homeassistant', 'allowlist_external_dirs'],
  },
  {
    name: 'an address that is none',
    text: 'homeassistant:\n  internal_url: here\n',
    says: ['homeassistant', 'internal_url', at(2)],
  },
  {
    name: 'a package with an unknown integration',
    text: 'homeassistant:\n  packages:\n    den:\n      nosuchthing:\n        a: 1\n',
    says: ['den', 'nosuchthing'],
  },
  {
    name: 'two packages with one key',
    text: 'homeassistant:\n  packages:\n    a:\n      input_boolean:\n        twice: {name: A}\n    b:\n      input_boolean:\n        twice: {name: B}\n',
    says: ['input_boolean'],
  },
  // Integrations.
  { name: 'an unknown integration', text: 'nosuchintegration:\n  x: 1\n', says: ['nosuchintegration'] },
  {
    name: 'a number that is none',
    text: 'input_number:\n  x:\n    max: many\n',
    says: ['input_number', 'max', at(3)],
  },
  {
    name: 'a minimum above the maximum',
    text: 'input_number:\n  x:\n    min: 5\n    max: 1\n',
    says: ['input_number'],
  },
  {
    name: 'a select without options',
    text: 'input_select:\n  x:\n    options: []\n',
    says: ['input_select', 'options'],
  },
  {
    name: 'a text with an impossible length',
    text: 'input_text:\n  x:\n    min: 9\n    max: 2\n',
    says: ['input_text'],
  },
  {
    name: 'a date and time of neither',
    text: 'input_datetime:\n  x:\n    has_date: false\n    has_time: false\n',
    says: ['input_datetime'],
  },
  {
    name: 'an unknown key of an integration',
    text: 'input_boolean:\n  x:\n    shade: dark\n',
    says: ['input_boolean', 'shade', at(3)],
  },
  {
    name: 'a key that is no slug',
    text: 'input_boolean:\n  Not A Slug:\n',
    says: ['input_boolean', 'Not A Slug'],
  },
  { name: 'a level that is none', text: 'logger:\n  default: loud\n', says: ['logger', 'default', at(2)] },
  {
    name: 'a duration that is none',
    text: 'timer:\n  x:\n    duration: soon\n',
    says: ['timer', 'duration'],
  },
  { name: 'a zone without a place', text: 'zone:\n  - name: Here\n', says: ['zone', 'latitude'] },
  {
    name: 'a group of what is no entity',
    text: 'group:\n  x:\n    entities: [not an entity]\n',
    says: ['group', 'entities'],
  },
  {
    name: 'a counter with a step of text',
    text: 'counter:\n  x:\n    step: wide\n',
    says: ['counter', 'step', at(3)],
  },
  {
    name: 'a schedule of nothing',
    text: 'schedule:\n  x:\n    monday:\n      - from: "25:00"\n',
    says: ['schedule'],
  },
  {
    name: 'a recorder that keeps nothing',
    text: 'recorder:\n  purge_keep_days: never\n',
    says: ['recorder', 'purge_keep_days', at(2)],
  },
  // Platforms.
  {
    name: 'a platform that is unknown',
    text: 'sensor:\n  - platform: nosuchplatform\n',
    says: ['sensor', 'nosuchplatform'],
  },
  {
    name: 'a platform without what it needs',
    text: 'sensor:\n  - platform: filter\n',
    says: ['sensor', /entity_id|filters/],
  },
  // Only the log names this fault, not the answer of the check.
  {
    name: 'an unknown key of a template sensor',
    text: 'template:\n  - sensor:\n      - nam: Answer\n        state: "41"\n',
    says: ['template', 'nam', at(3)],
  },
  {
    name: 'a template that cannot be parsed',
    text: 'template:\n  - sensor:\n      - name: Answer\n        state: "{{ 1 "\n',
    says: ['template', 'TemplateSyntaxError', at(4)],
  },
  {
    name: 'a template light without actions',
    text: 'template:\n  - light:\n      - name: Lamp\n',
    says: ['template', 'turn_on'],
  },
  {
    name: 'a template with an unknown trigger',
    text: 'template:\n  - triggers: [{trigger: nosuch}]\n    sensor:\n      - name: Answer\n        state: "41"\n',
    says: ['template', 'nosuch'],
  },
  {
    name: 'a template in a package',
    text: 'homeassistant:\n  packages:\n    den:\n      template:\n        - sensor:\n            - nam: Answer\n',
    says: ['template', 'nam'],
  },
  {
    name: 'an unknown action of an automation',
    text: 'automation own:\n  - alias: Own\n    triggers: []\n    actions: [{bogus: 1}]\n',
    says: ['Own', 'bogus'],
  },
  {
    name: 'an unknown trigger of an automation',
    text: 'automation own:\n  - alias: Own\n    triggers: [{trigger: nosuch}]\n    actions: []\n',
    says: ['Own', 'nosuch'],
  },
  {
    name: 'a misspelt key of an automation',
    text: 'automation own:\n  - alias: Own\n    triggres: []\n    actions: []\n',
    says: ['Own', 'triggres'],
  },
  {
    name: 'a condition that is a broken template',
    text: 'automation own:\n  - alias: Own\n    triggers: []\n    conditions: "{{ x "\n    actions: []\n',
    says: ['Own', 'conditions'],
  },
  {
    name: 'an automation of a blueprint that is not there',
    text: 'automation own:\n  - alias: Own\n    use_blueprint: {path: no/such.yaml}\n',
    says: ['no/such.yaml'],
  },
  {
    name: 'an unknown action of a script',
    text: 'script own:\n  own:\n    sequence: [{bogus: 1}]\n',
    says: ['own', 'bogus'],
  },
  {
    name: 'a script of a blueprint that is not there',
    text: 'script own:\n  own:\n    use_blueprint: {path: no/such.yaml}\n',
    says: ['no/such.yaml'],
  },
  {
    name: 'an automation in a package',
    text: 'homeassistant:\n  packages:\n    den:\n      automation:\n        - {alias: Own, triggers: [], actions: [{bogus: 1}]}\n',
    says: ['Own', 'bogus'],
  },
  {
    name: 'a scene of what is no mapping',
    text: 'scene own:\n  - name: Own\n    entities: [1]\n',
    says: ['scene', 'entities'],
  },
];
