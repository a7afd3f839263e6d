import { automation, type HubAutomationSpec } from '../../../operator/kinds';
import { defaulted } from '../../../operator/kinds/schema';
import { automationBody, bodyHash, differingFields } from '../../../operator/sync/automation-body';

const spec = (fields: Partial<HubAutomationSpec> = {}): HubAutomationSpec =>
  defaulted(automation.spec, {
    hubRef: { name: 'home' },
    alias: 'Lamp',
    triggers: [{ trigger: 'sun', event: 'sunset' }],
    actions: [{ action: 'light.turn_on' }],
    ...fields,
  });

test('only what the hub knows is sent, under its own names', () => {
  expect(automationBody(spec({ max: 3, mode: 'queued', maxExceeded: 'silent', trace: { storedTraces: 0 }, initialState: true }))).toEqual({
    alias: 'Lamp',
    triggers: [{ trigger: 'sun', event: 'sunset' }],
    conditions: [],
    actions: [{ action: 'light.turn_on' }],
    mode: 'queued',
    max: 3,
    max_exceeded: 'silent',
    initial_state: true,
    trace: { stored_traces: 0 },
  });
});

test.each([
  [{ enabled: true }, undefined],
  [{ enabled: true, initialState: false }, false],
  [{ enabled: false }, false],
  [{ enabled: false, initialState: true }, false],
])('%j starts the automation as %s', (fields, expected) => {
  expect(automationBody(spec(fields))['initial_state']).toBe(expected);
});

test('a blueprint takes the place of triggers and actions', () => {
  const body = automationBody(spec({ useBlueprint: { path: 'homeassistant/motion_light.yaml', input: { motion: 'x' } } }));
  expect(body['use_blueprint']).toEqual({ path: 'homeassistant/motion_light.yaml', input: { motion: 'x' } });
  expect(Object.keys(body)).not.toEqual(expect.arrayContaining(['triggers']));
});

test('two definitions differ in the fields that differ, whatever the order of keys; the id of the hub does not count', () => {
  const body = automationBody(spec());
  expect(differingFields({ ...Object.fromEntries(Object.entries(body).reverse()), id: 'lamp' }, body)).toEqual([]);
  expect(differingFields({ ...body, alias: 'Other', extra: 1 }, body)).toEqual(['alias', 'extra']);
  expect(differingFields(undefined, { alias: 'x' })).toEqual(['alias']);
  expect(bodyHash({ a: 1, b: [{ c: 1, d: 2 }] })).toBe(bodyHash({ b: [{ d: 2, c: 1 }], a: 1 }));
  expect(bodyHash({ a: [1, 2] })).not.toBe(bodyHash({ a: [2, 1] }));
});

test.each([[false], [0], ['']])('%j is kept, not dropped as empty', (value) => {
  expect(automationBody(spec({ variables: { x: value }, description: '' }))).toMatchObject({ variables: { x: value }, description: '' });
});
