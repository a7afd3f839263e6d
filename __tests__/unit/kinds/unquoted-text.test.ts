import { unquotedTextMessage, unquotedTexts } from '../../../operator/kinds/unquoted-text';

const pathsIn = (spec: unknown) => unquotedTexts(spec, 'spec').map(({ path }) => path);

describe('unquotedTexts', () => {
  test.each(['to', 'from', 'not_to', 'not_from'])('finds a boolean in "%s" of a state trigger', (field) => {
    expect(unquotedTexts({ triggers: [{ trigger: 'state', [field]: true }] }, 'spec')).toEqual([
      { path: `spec.triggers[0].${field}`, value: true },
    ]);
  });

  test('finds a state in a list, under the former name of "trigger", and in a condition at any depth', () => {
    const condition = { condition: 'or', conditions: [{ condition: 'state', state: ['on', false] }] };
    const spec = {
      triggers: [{ platform: 'state', to: ['on', false] }],
      conditions: [condition],
      actions: [{ choose: [{ conditions: { condition: 'state', state: 20 }, sequence: [] }] }],
    };
    expect(pathsIn(spec)).toEqual([
      'spec.triggers[0].to',
      'spec.conditions[0].conditions[0].state',
      'spec.actions[0].choose[0].conditions.state',
    ]);
  });

  test('finds the triggers that an action waits for', () => {
    expect(pathsIn({ sequence: [{ wait_for_trigger: { trigger: 'state', from: 0 } }] })).toEqual([
      'spec.sequence[0].wait_for_trigger.from',
    ]);
  });

  test.each([
    ['text', { trigger: 'state', to: 'on', from: ['off', 'unknown'] }],
    ['any change', { trigger: 'state', to: null }],
    ['an attribute, which may have any type', { trigger: 'state', attribute: 'muted', to: true }],
    ['a template', '{{ true }}'],
    ['a boolean that the hub wants', { trigger: 'state', enabled: false }],
    ['the data of another trigger', { trigger: 'event', event_data: { to: true } }],
    ['an unknown trigger', { trigger: 'sun', to: true }],
  ])('%s is correct', (_, trigger) => {
    expect(pathsIn({ triggers: [trigger] })).toEqual([]);
  });

  test('without a path the names of the fields begin the paths', () => {
    expect(unquotedTexts({ triggers: [{ trigger: 'state', to: true }] }, '')).toEqual([
      { path: 'triggers[0].to', value: true },
    ]);
  });

  test('the message names the field and the remedy', () => {
    expect(unquotedTextMessage({ path: 'spec.triggers[0].to', value: true })).toBe(
      'spec.triggers[0].to is the boolean true, and the hub wants text: quote on, off, yes, no, true and false.',
    );
    expect(unquotedTextMessage({ path: 'spec.x', value: 20 })).toBe(
      'spec.x is the number 20, and the hub wants text: quote it.',
    );
  });
});
