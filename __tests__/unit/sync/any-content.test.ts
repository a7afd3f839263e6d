import { entityPayload } from '../../../operator/client/connection/answers';
import type { EntityPayload } from '../../../operator/client/connection/config-entity';
import { flowStep, type FlowStep } from '../../../operator/client/connection/flow-step';
import { automations } from '../../../operator/sync/config-entities/automation';
import { diff, hashOf, unexpressed } from '../../../operator/sync/config-entities/diff';
import { scenes } from '../../../operator/sync/config-entities/scene';
import { scripts } from '../../../operator/sync/config-entities/script';
import { automationSpecOf, sceneSpecOf, scriptSpecOf } from '../../../operator/sync/config-entities/spec-of';
import { readMarker } from '../../../operator/sync/hub-pod/content-hashes';
import { FlowNavigator } from '../../../operator/sync/integration/flow/navigator';
import { withUploads } from '../../../operator/sync/integration/flow/run';
import { formatDiff } from '../../../operator/sync/objects/field-diff';
import { withWrongParts } from '../client/wrong-values';

// Definitions and forms of a hub may contain any values. All of them are compared, shown and filled in
// without a failure.

const step = { action: 'light.turn_on', target: { entity_id: 'light.a' }, data: { brightness: '5' } };
const branch = { if: ['{{ a }}'], then: [step], else: [step] };
const choice = {
  choose: [{ conditions: [{ condition: 'state', entity_id: 'light.a' }], sequence: [step] }],
  default: [step],
};
const run = { alias: 'A', mode: 'queued', max: '5', max_exceeded: 'silent', trace: { stored_traces: 5 } };
const actions: readonly object[] = [
  step,
  branch,
  choice,
  { repeat: { count: '3', sequence: [step] } },
  { parallel: [{ sequence: [step] }] },
  { wait_for_trigger: [{ trigger: 'state', to: 'on' }], timeout: { seconds: 5 } },
  { delay: '00:00:05' },
];
const conditions = [{ condition: 'and', conditions: ['{{ a }}'] }, { or: [{ not: [{ condition: 'sun' }] }] }];
const definitions: readonly [string, EntityPayload][] = [
  ['automation', { ...run, condition: conditions, trigger_variables: { a: 1 }, initial_state: 'on' }],
  ['automation', { trigger: [{ platform: 'state', to: 'on', for: { minutes: 1 } }] }],
  ['automation', { ...run, use_blueprint: { path: 'a.yaml', input: { a: 1 } } }],
  ...actions.map((action): [string, EntityPayload] => ['automation', { action: [action] }]),
  ['script', { ...run, icon: 'mdi:a', fields: { a: { required: 'on' } }, sequence: [step] }],
  ['scene', { name: 'A', entities: { 'light.a': { state: 'on', brightness: 5 }, 'light.b': true } }],
];
const types = { automation: automations, script: scripts, scene: scenes } as const;
const specOf = {
  automation: automationSpecOf,
  scene: sceneSpecOf,
  script: (stored: EntityPayload) => scriptSpecOf(stored, 'a'),
};

test.each(definitions)('any definition of the kind %s is compared, shown and exported: %#', (kind, right) => {
  const form = types[kind as keyof typeof types] as unknown as (typeof types)['script'];
  const definitionsOf = [...withWrongParts(right)].filter(
    (stored) => !entityPayload(stored),
  ) as EntityPayload[];
  const show = (actual: EntityPayload) => {
    formatDiff(diff(form, 'a', actual, right), String);
    return [
      hashOf(form, 'a', actual),
      unexpressed(form, actual),
      specOf[kind as keyof typeof specOf](actual),
    ];
  };
  expect(definitionsOf.map(show)).toHaveLength(definitionsOf.length);
});

test('variables of any value are a marker, or none', async () => {
  const right = { variables: { configuration: 'a', secrets: 'b' } };
  for (const running of withWrongParts(right)) {
    if (entityPayload(running)) continue;
    const client = {
      entityRegistry: { findNow: () => Promise.resolve({ entity_id: 'script.a', disabled_by: null }) },
      entities: { running: () => Promise.resolve(running) },
    };
    const { configuration = '', secrets = '' } = (await readMarker(client as never)) ?? {};
    expect([typeof configuration, typeof secrets]).toEqual(['string', 'string']);
  }
});

const open = { flow_id: 'f', step_id: 'user', description_placeholders: { a: 'b' } };
const field = (name: string, more: object) => ({
  name,
  required: true,
  description: { suggested_value: 'a' },
  ...more,
});
const formFields: readonly object[] = [
  field('host', { type: 'string', lengthMin: 1, lengthMax: 5 }),
  field('port', { type: 'integer', valueMin: 1, valueMax: 5 }),
  field('one', { type: 'select', options: [['a', 'A'], 5] }),
  field('many', { type: 'multi_select', options: { a: 'A' } }),
  field('choice', { selector: { select: { multiple: true, options: [{ value: 'a', label: 'A' }] } } }),
  field('level', { selector: { number: { min: 1, max: 5 } } }),
  field('fixed', { selector: { constant: { value: 5 } } }),
  field('section', {
    type: 'expandable',
    expanded: false,
    schema: [field('file', { selector: { file: {} } })],
  }),
];
const steps: readonly object[] = [
  // Each form has a schema that is compiled for it.
  ...formFields.map((each) => ({ ...open, type: 'form', errors: {}, last_step: false, data_schema: [each] })),
  { ...open, type: 'menu', menu_options: { a: 'A', b: 'B' } },
  { ...open, type: 'progress' },
  { type: 'create_entry', flow_id: 'f', result: undefined },
  { type: 'abort', flow_id: 'f', reason: 'a', description_placeholders: { a: 'b' } },
];
const texts = ['host', 'port', 'one', 'many', 'choice', 'level', 'fixed', '__proto__'].map((name) => ({
  id: `configuration.${name}`,
  field: name,
  value: { type: 'text', text: '3' },
}));
const file = { type: 'file', content: new Uint8Array(), fileName: 'f' };
const fields = [
  ...texts,
  { id: 'configuration.section.file', field: 'section.file', value: file },
  { id: 'configuration.__proto__.file', field: '__proto__.file', value: file },
] as never;
const upload = () => Promise.resolve('id');

test.each(steps)('any step of a flow is answered, or is a problem of the flow: %#', async (right) => {
  for (const step of withWrongParts(right)) {
    if (flowStep(step)) continue;
    const move = new FlowNavigator({ steps: [], fields }).next(step as FlowStep);
    if (move.type === 'submit') await withUploads({ upload } as never, move.data, move.uploads);
  }
  // Copied objects have a different prototype from those of a test.
  expect(structuredClone({})).not.toHaveProperty('file');
});
