import { kinds } from '../../../operator/kinds';
import { BLUEPRINT_PATH_RULE } from '../../../operator/kinds/blueprint-path';
import { triggersNeeded } from '../../../operator/kinds/entity';
import { BLUEPRINT_PATHS } from '../patterns';
import type { RuleCase } from './rule-case';

const children = kinds.map(({ kind }) => kind).filter((kind) => kind !== 'Hub');

const answers = ['configuration', 'options', 'steps[].values', 'subentries[].values'];

/** A rule of the settings of one sort of helper. @param field of these settings; empty: all of them */
function ofHelper(
  type: string,
  says: string,
  field: string,
  { good, bad }: { readonly good: readonly object[]; readonly bad: readonly object[] },
): readonly RuleCase[] {
  const path = `spec.${type}`;
  const change = (settings: object) => ({ 'spec.type': type, 'spec.boolean': undefined, [path]: settings });
  const place = field === '' ? path : `${path}.${field}`;
  return [{ kind: 'HubHelper', says, field: place, good: good.map(change), bad: bad.map(change) }];
}

export const childRules: readonly RuleCase[] = [
  ...children.map((kind) => ({
    kind,
    says: 'hubRef.name cannot be changed',
    field: 'spec.hubRef.name',
    update: true as const,
    good: [{ 'spec.suspend': false }],
    bad: [{ 'spec.hubRef.name': 'another' }],
  })),

  // HubConfiguration
  {
    kind: 'HubConfiguration',
    says: 'files: a path has up to three folders',
    field: 'spec.files',
    good: [
      { 'spec.files': { 'a.yaml': '', 'My-sensors_2.v1.yaml': '' } },
      { 'spec.files': {} },
      { 'spec.files': { [`${'a'.repeat(150)}.yaml`]: '' } },
      ...[
        'a.yml',
        'dir/a.yaml',
        '_a.txt',
        'My rooms/Ground floor/hall 1.v2.yaml',
        'a/b/c/d.json',
        't/a.jinja',
      ].map((name) => ({ 'spec.files': { [name]: '', 'a.yaml': '' } })),
      { 'spec.files': { 'custom_components.yaml': '', 'a/www/x.yaml': '', 'my secrets.yaml': '' } },
    ],
    bad: [
      ...[
        'a',
        'a.sh',
        '.a.yaml',
        '../a.yaml',
        '/a.yaml',
        'a//b.yaml',
        'a/.b/c.yaml',
        'a/../b.yaml',
        '-a.txt',
      ],
      ...['a/b/c/d/e.yaml', ' a.yaml', 'a/ b.yaml', 'ä.yaml', 'a/b', 'a.yaml/', `a/${'b'.repeat(120)}.yaml`],
      ...[
        'home-assistant_v2.db/a.yaml',
        'automations.yaml/a.yaml',
        'configuration.yaml/a/b.yaml',
        'v1.2/a.yaml',
      ],
      ...['packages/secrets.yaml', 'custom_components/a/services.yaml', 'www/a.txt'],
    ].map((name) => ({ 'spec.files': { [name]: '' } })),
  },
  {
    kind: 'HubConfiguration',
    says: 'files: this name belongs to',
    field: 'spec.files',
    good: [{ 'spec.files': { 'my-automations.yaml': '' } }],
    bad: [
      ...['configuration', 'secrets', 'automations', 'scenes', 'scripts', 'known_devices', 'ip_bans'],
      ...['hub-operator', 'hub_operator_marker', 'hub-operator/a'],
    ].map((name) => ({ 'spec.files': { [`${name}.yaml`]: '' } })),
  },

  // HubBlueprint
  {
    kind: 'HubBlueprint',
    says: 'set exactly one of content, configMapRef',
    field: 'spec',
    good: [{ 'spec.content': undefined, 'spec.configMapRef': { name: 'a', key: 'b' } }],
    bad: [{ 'spec.content': undefined }, { 'spec.configMapRef': { name: 'a', key: 'b' } }],
  },
  {
    kind: 'HubBlueprint',
    says: 'path cannot be changed',
    field: 'spec.path',
    update: true as const,
    good: [{ 'spec.sourceUrl': undefined }],
    bad: [{ 'spec.path': 'other.yaml' }],
  },
  {
    kind: 'HubBlueprint',
    says: 'domain cannot be changed',
    field: 'spec.domain',
    update: true as const,
    good: [{ 'spec.sourceUrl': undefined }],
    bad: [{ 'spec.domain': 'script' }],
  },
  {
    kind: 'HubBlueprint',
    says: 'path: the operator itself uses the folder hub-operator-check',
    field: 'spec.path',
    good: [{ 'spec.path': 'hub-operator-checks/a.yaml' }],
    bad: [{ 'spec.path': 'hub-operator-check/a.yaml' }],
  },
  ...['HubAutomation', 'HubScript'].map((kind): RuleCase => ({
    kind,
    says: BLUEPRINT_PATH_RULE,
    field: 'spec.useBlueprint.path',
    good: BLUEPRINT_PATHS.good.map((path) => ({ 'spec.useBlueprint.path': path })),
    bad: BLUEPRINT_PATHS.bad
      .filter((path) => /^[^/].*\.yaml$/.test(path)) // the pattern refuses the others
      .map((path) => ({ 'spec.useBlueprint.path': path })),
  })),

  // HubEntity, HubDevice
  ...['HubEntity', 'HubDevice'].map((kind) => ({
    kind,
    says: 'select cannot be changed',
    field: 'spec.select',
    update: true as const,
    good: [{ 'spec.name': 'Another' }],
    bad:
      kind === 'HubDevice'
        ? [{ 'spec.select.identifier.id': 'other' }]
        : [
            { 'spec.select.device.identifier.id': 'other' },
            { 'spec.select': { entityId: 'sensor.x' }, 'spec.entityId': undefined },
          ],
  })),
  {
    kind: 'HubEntity',
    says: 'set exactly one of entityId, unique, device',
    field: 'spec.select',
    good: [{ 'spec.select': { entityId: 'sensor.x' }, 'spec.entityId': undefined }],
    bad: [
      { 'spec.select': {} },
      { 'spec.select.unique': { integration: 'a', domain: 'sensor', uniqueId: 'c' } },
    ],
  },
  ...['spec.select', 'spec.select.device'].flatMap((field, index): readonly RuleCase[] => [
    {
      kind: index === 0 ? 'HubDevice' : 'HubEntity',
      says: 'set exactly one of identifier, connection, serialNumber, name',
      field,
      good: [{ [`${field}.identifier`]: undefined, [`${field}.serialNumber`]: 'SN' }],
      bad: [{ [`${field}.identifier`]: undefined }, { [`${field}.serialNumber`]: 'SN' }],
    },
    {
      kind: index === 0 ? 'HubDevice' : 'HubEntity',
      says: 'name needs integrationRef',
      field: `${field}.name`,
      good: [{ [`${field}.identifier`]: undefined, [`${field}.name`]: 'Bridge' }],
      bad: [
        {
          [`${field}.identifier`]: undefined,
          [`${field}.name`]: 'Bridge',
          [`${field}.integrationRef`]: undefined,
        },
      ],
    },
  ]),
  {
    kind: 'HubEntity',
    says: 'entityId needs select.unique or select.device',
    field: 'spec.entityId',
    good: [{ 'spec.select': { unique: { integration: 'a', domain: 'sensor', uniqueId: 'c' } } }],
    bad: [{ 'spec.select': { entityId: 'sensor.x' } }],
  },

  // HubSecrets
  {
    kind: 'HubSecrets',
    says: 'as: the hub ignores a secret named logger',
    field: 'spec.secretRefs[0].items[0].as',
    good: [{ 'spec.secretRefs[].items[].as': 'logger2' }],
    bad: [
      { 'spec.secretRefs[].items[].as': 'logger' },
      { 'spec.secretRefs[].items[].as': 'hub_operator_hash' },
    ],
  },

  // HubAutomation, HubScript
  ...['HubAutomation', 'HubScript'].map((kind) => ({
    kind,
    says: 'max works only with mode queued or parallel',
    field: 'spec.max',
    good: [{ 'spec.mode': 'parallel' }, { 'spec.mode': undefined, 'spec.max': undefined }],
    bad: [{ 'spec.mode': 'single' }, { 'spec.mode': 'restart' }, { 'spec.mode': undefined }],
  })),
  {
    kind: 'HubAutomation',
    says: triggersNeeded.message,
    field: 'spec.triggers',
    good: [
      { 'spec.useBlueprint': undefined },
      { 'spec.triggers': undefined },
      { 'spec.useBlueprint': undefined, 'spec.triggers': [] },
    ],
    bad: [{ 'spec.useBlueprint': undefined, 'spec.triggers': undefined }],
  },

  // HubAutomation, HubScene, HubScript
  ...['HubAutomation', 'HubScene', 'HubScript'].flatMap((kind): readonly RuleCase[] => [
    {
      kind,
      says: 'hubId and id exclude each other',
      field: 'spec.hubId',
      good: [{ 'spec.hubId': '1699999999999', 'spec.id': undefined }, { 'spec.id': 'b' }],
      bad: [{ 'spec.hubId': '1699999999999' }, { 'spec.hubId': 'movie_night' }],
    },
    {
      kind,
      says: 'hubId cannot be set, changed or removed',
      field: 'spec.hubId',
      update: true,
      good: [{ 'spec.id': 'other' }],
      bad: [{ 'spec.hubId': '1699999999999', 'spec.id': undefined }],
    },
    {
      kind,
      says: 'hubId cannot be set, changed or removed',
      field: 'spec.hubId',
      update: { 'spec.hubId': '1699999999999', 'spec.id': undefined },
      good: [{ 'spec.suspend': false }],
      bad: [{ 'spec.hubId': '1700000000000' }, { 'spec.hubId': undefined }],
    },
  ]),
  ...['HubAutomation', 'HubScene'].map((kind) => ({
    kind,
    says: 'hubId: . and .. are no ids',
    field: 'spec.hubId',
    good: ['...', '. .', 'a/b', 'Bad Zimmer 1', '光'].map((id) => ({
      'spec.hubId': id,
      'spec.id': undefined,
    })),
    bad: ['.', '..'].map((id) => ({ 'spec.hubId': id, 'spec.id': undefined })),
  })),
  ...['reload, toggle, turn_on and turn_off are services', 'hub_operator_configuration is the operator'].map(
    (says, index) => ({
      kind: 'HubScript',
      says: `hubId: ${says}`,
      field: 'spec.hubId',
      good: [{ 'spec.hubId': '1699999999999', 'spec.id': undefined }],
      bad: [['reload', 'toggle', 'turn_on', 'turn_off'], ['hub_operator_configuration']][index]!.map(
        (id) => ({
          'spec.hubId': id,
          'spec.id': undefined,
        }),
      ),
    }),
  ),
  {
    kind: 'HubScript',
    says: 'id of a script is a slug',
    field: 'spec.id',
    good: [{ 'spec.id': 'a_b_c' }],
    bad: [{ 'spec.id': 'a__b' }, { 'spec.id': 'a_' }],
  },
  {
    kind: 'HubScript',
    says: 'id: reload, toggle, turn_on and turn_off are services',
    field: 'spec.id',
    good: [{ 'spec.id': 'reload_all' }],
    bad: ['reload', 'toggle', 'turn_on', 'turn_off'].map((id) => ({ 'spec.id': id })),
  },
  {
    kind: 'HubScript',
    says: 'metadata.name gives a script id that is a service',
    field: 'metadata.name',
    good: [{ 'metadata.name': 'turn-on' }, { 'metadata.name': 'turn-on-tv', 'spec.id': undefined }],
    bad: ['reload', 'toggle', 'turn-on', 'turn--off', 'turn.on'].map((name) => ({
      'metadata.name': name,
      'spec.id': undefined,
    })),
  },
  {
    kind: 'HubScript',
    says: 'id: hub_operator_configuration is the operator',
    field: 'spec.id',
    good: [{ 'spec.id': 'hub_operator_configuration_2' }],
    bad: [{ 'spec.id': 'hub_operator_configuration' }],
  },
  {
    kind: 'HubScript',
    says: 'metadata.name gives the id hub_operator_configuration',
    field: 'metadata.name',
    good: [{ 'metadata.name': 'hub-operator-configuration' }],
    bad: ['hub-operator-configuration', 'hub.operator--configuration'].map((name) => ({
      'metadata.name': name,
      'spec.id': undefined,
    })),
  },

  // HubIntegration
  {
    kind: 'HubIntegration',
    says: 'domain cannot be changed',
    field: 'spec.domain',
    update: true,
    good: [{ 'spec.title': 'Other' }],
    bad: [{ 'spec.domain': 'sun' }],
  },
  ...answers.map((place) => ({
    kind: 'HubIntegration',
    says: 'exactly one of value, jsonValue, secretKeyRef and fileSecretKeyRef',
    field: `spec.${place.replace('[]', '[0]')}.x`,
    good: [
      { [`spec.${place}`]: { x: { value: '' } } },
      { [`spec.${place}`]: { x: { jsonValue: '[]' } } },
      { [`spec.${place}`]: { x: { secretKeyRef: { name: 'a', key: 'b' } } } },
      { [`spec.${place}`]: { x: { fileSecretKeyRef: { name: 'a', key: 'b' } } } },
    ],
    bad: [
      { [`spec.${place}`]: { x: {} } },
      { [`spec.${place}`]: { x: { value: '1', jsonValue: '1' } } },
      { [`spec.${place}`]: { x: { value: '', secretKeyRef: { name: 'a', key: 'b' } } } },
    ],
  })),
  {
    kind: 'HubIntegration',
    says: 'steps: a step is a menu (menuOption) or a form (values)',
    field: 'spec.steps[0].menuOption',
    good: [{ 'spec.steps': [{ stepId: 'user' }] }],
    bad: [{ 'spec.steps': [{ stepId: 'user', menuOption: 'sensor', values: {} }] }],
  },

  // HubZone
  {
    kind: 'HubZone',
    says: 'Home is the hub’s own zone',
    field: 'spec.name',
    good: [{ 'spec.name': 'Homework' }, { 'spec.name': 'Holiday home' }],
    bad: [{ 'spec.name': 'Home' }, { 'spec.name': ' hO me ' }],
  },

  // HubPerson
  {
    kind: 'HubPerson',
    says: 'metadata.name has more than 64 characters',
    field: 'metadata.name',
    good: [{ 'metadata.name': 'a'.repeat(65) }, { 'metadata.name': 'a'.repeat(64), 'spec.id': undefined }],
    bad: [{ 'metadata.name': 'a'.repeat(65), 'spec.id': undefined }],
  },
  {
    kind: 'HubPerson',
    says: 'id cannot be set, changed or removed later',
    field: 'spec.id',
    update: true,
    good: [{ 'spec.name': 'Anna B.' }],
    bad: [{ 'spec.id': 'other' }, { 'spec.id': undefined }],
  },
  {
    kind: 'HubPerson',
    says: 'id cannot be set, changed or removed later',
    field: 'spec.id',
    update: { 'spec.id': undefined },
    good: [{ 'spec.id': undefined, 'spec.name': 'Anna B.' }],
    bad: [{ 'spec.id': 'anna' }],
  },

  // HubHelper
  {
    kind: 'HubHelper',
    says: 'metadata.name has more than 64 characters',
    field: 'metadata.name',
    good: [{ 'metadata.name': 'a'.repeat(65) }, { 'metadata.name': 'a'.repeat(64), 'spec.id': undefined }],
    bad: [{ 'metadata.name': 'a'.repeat(65), 'spec.id': undefined }],
  },
  {
    kind: 'HubHelper',
    says: 'type cannot be changed',
    field: 'spec.type',
    update: true,
    good: [{ 'spec.boolean': undefined }],
    bad: [{ 'spec.type': 'button', 'spec.boolean': undefined }],
  },
  {
    kind: 'HubHelper',
    says: 'id cannot be set, changed or removed later',
    field: 'spec.id',
    update: true,
    good: [{ 'spec.name': 'Guests' }],
    bad: [{ 'spec.id': 'other' }, { 'spec.id': undefined }],
  },
  {
    kind: 'HubHelper',
    says: 'id cannot be set, changed or removed later',
    field: 'spec.id',
    update: { 'spec.id': undefined },
    good: [{ 'spec.id': undefined, 'spec.name': 'Guests' }],
    bad: [{ 'spec.id': 'guest_mode' }],
  },
  {
    kind: 'HubHelper',
    says: 'set the settings of the sort that type names',
    field: 'spec',
    good: [
      { 'spec.boolean': undefined },
      { 'spec.type': 'timer', 'spec.boolean': undefined, 'spec.timer': {} },
    ],
    bad: [
      { 'spec.timer': {} },
      { 'spec.type': 'button' },
      { 'spec.schedule': {} },
      { 'spec.number': { min: 1, max: 2 } },
    ],
  },
  ...(['number', 'select', 'datetime'] as const).map((type) => ({
    kind: 'HubHelper',
    says: `${type} is missing`,
    field: `spec.${type}`,
    good: [{ 'spec.boolean': undefined }],
    bad: [{ 'spec.type': type, 'spec.boolean': undefined }],
  })),
  ...ofHelper('number', 'max must be greater than min', 'max', {
    good: [{ min: 0, max: 0.5 }],
    bad: [
      { min: 1, max: 1 },
      { min: 2.5, max: -1 },
    ],
  }),
  ...ofHelper('text', 'max must not be less than min', 'max', {
    good: [{ min: 100 }, { min: 5, max: 5 }],
    bad: [{ min: 101 }, { min: 5, max: 4 }],
  }),
  ...ofHelper('text', 'initial must have at least min', 'initial', {
    good: [{ initial: '' }, { initial: '光光', max: 2 }, { initial: 'x'.repeat(100) }],
    bad: [{ initial: 'a', min: 2 }, { initial: 'abc', max: 2 }, { initial: 'x'.repeat(101) }],
  }),
  ...ofHelper('select', 'initial must be one of options', 'initial', {
    good: [{ options: ['a', ''], initial: '' }],
    bad: [{ options: ['a'], initial: 'A' }],
  }),
  ...ofHelper('datetime', 'set date, time or both', '', {
    good: [{ date: true }, { date: false, time: true }],
    bad: [{}, { date: false, time: false }],
  }),
  ...ofHelper('datetime', 'initial has the form', 'initial', {
    good: [
      { date: true, initial: '2026-12-24' },
      { time: true, initial: '18:00' },
      { date: true, time: true, initial: '2026-12-24 18:00' },
    ],
    bad: [
      { date: true, initial: '18:00' },
      { time: true, date: false, initial: '2026-12-24' },
      { time: true, initial: '2026-12-24 18:00' },
      { date: true, time: true, initial: '2026-12-24' },
      { date: true, time: true, initial: '18:00' },
    ],
  }),
  ...ofHelper('counter', 'maximum must not be less than minimum', 'maximum', {
    good: [{ minimum: 0, maximum: 0 }],
    bad: [{ minimum: 1, maximum: 0, initial: 1 }],
  }),
  ...ofHelper('counter', 'initial, which is 0 when it is absent', 'initial', {
    good: [
      { minimum: 1, initial: 1 },
      { maximum: -1, initial: -5 },
      { minimum: -1, maximum: 1 },
    ],
    bad: [{ minimum: 1 }, { maximum: -1 }, { maximum: 5, initial: 6 }],
  }),

  // HubCommunityRepository
  {
    kind: 'HubCommunityRepository',
    says: 'category cannot be changed',
    field: 'spec.category',
    update: true,
    good: [{ 'spec.ref': 'v2' }],
    bad: [{ 'spec.category': 'theme' }],
  },
  {
    kind: 'HubCommunityRepository',
    says: 'ref contains two dots in a row',
    field: 'spec.ref',
    good: [{ 'spec.ref': 'refs/tags/v1.2' }],
    bad: [{ 'spec.ref': 'v1/../../v2' }],
  },
];
