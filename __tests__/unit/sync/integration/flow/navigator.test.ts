import type { FlowStep, FormField } from '../../../../../operator/client/connection/flow-step';
import type { Answer } from '../../../../../operator/client/entries/forms/answer';
import { FlowNavigator } from '../../../../../operator/sync/integration/flow/navigator';

const answer = (field: string, text: string, id = `configuration.${field}`): Answer => ({
  id,
  field,
  value: { type: 'text', text },
});
const form = (step_id: string, fields: readonly string[], more: object = {}): FlowStep => ({
  type: 'form',
  flow_id: 'f',
  step_id,
  data_schema: fields.map((name): FormField => ({ name, type: 'string', required: true })),
  ...more,
});
const menu = (step_id: string, ...menu_options: readonly string[]): FlowStep => ({
  type: 'menu',
  flow_id: 'f',
  step_id,
  menu_options,
});
const text = (value: string) => expect.stringContaining(value) as string;

describe('FlowNavigator', () => {
  test('forms without steps are answered by field, regardless of the step', () => {
    const navigator = new FlowNavigator({ steps: [], fields: [answer('host', 'h'), answer('name', 'n')] });
    expect(navigator.next(form('user', ['host']))).toMatchObject({ type: 'submit', data: { host: 'h' } });
    expect(navigator.next(form('name', ['name']))).toMatchObject({ type: 'submit', data: { name: 'n' } });
    expect(navigator.next({ type: 'create_entry', flow_id: 'f' })).toEqual({
      type: 'created',
      entry: undefined,
    });
    expect(navigator.unused).toEqual([]);
  });

  test('the answer of a step takes precedence over one of the configuration, and each visit has its own', () => {
    const steps = ['a', 'b'].map((value, index) => ({
      stepId: 'add',
      answers: [answer('item', value, `steps[${index}].add.item`)],
    }));
    const navigator = new FlowNavigator({ steps, fields: [answer('item', 'none')] });
    expect(navigator.next(form('add', ['item']))).toMatchObject({ data: { item: 'a' } });
    expect(navigator.next(form('add', ['item']))).toMatchObject({ data: { item: 'b' } });
    expect(navigator.unused.map(({ id }) => id)).toEqual(['configuration.item']);
  });

  test('a step that is shown less often than in the spec is not a mistake', () => {
    const steps = ['a', 'b'].map((value, index) => ({
      stepId: 'add',
      answers: [answer('item', value, `steps[${index}].add.item`)],
    }));
    const navigator = new FlowNavigator({ steps, fields: [] });
    expect(navigator.next(form('add', ['item'], { last_step: true }))).toMatchObject({ type: 'submit' });
    expect(navigator.unused).toEqual([]);
    expect(navigator.unshown).toEqual(['steps[1].add']);
  });

  test('a confirmation without fields is confirmed', () => {
    const navigator = new FlowNavigator({ steps: [], fields: [] });
    expect(navigator.next({ type: 'form', flow_id: 'f', step_id: 'confirm', data_schema: null })).toEqual({
      type: 'submit',
      data: {},
      uploads: [],
    });
  });

  test('a menu takes the option of its step, or the only one', () => {
    const steps = [{ stepId: 'user', menuOption: 'sensor', answers: [] }];
    const navigator = new FlowNavigator({ steps, fields: [] });
    expect(navigator.next(menu('user', 'light', 'sensor'))).toMatchObject({
      data: { next_step_id: 'sensor' },
    });
    expect([...navigator.used]).toEqual(['steps[0].user']);
    expect(new FlowNavigator({ steps: [], fields: [] }).next(menu('user', 'one'))).toMatchObject({
      data: { next_step_id: 'one' },
    });
  });

  test('the menu of an options form is answered by a field of its name', () => {
    const navigator = new FlowNavigator({
      steps: [],
      fields: [answer('init', 'more')],
      ofEntry: { choices: new Set() },
    });
    expect(navigator.next(menu('init', 'basic', 'more'))).toMatchObject({ data: { next_step_id: 'more' } });
  });

  test.each<[string, FlowStep, object]>([
    ['a menu without a choice', menu('user', 'a', 'b'), { step: 'user', text: text('one of a, b') }],
    [
      'a form with an error',
      form('user', [], { errors: { host: 'invalid_host' } }),
      { kind: 'error', step: 'user', field: 'host', key: 'invalid_host' },
    ],
    [
      'a form with an error of all',
      form('user', [], { errors: { base: 'cannot_connect' } }),
      { kind: 'error', field: undefined, key: 'cannot_connect' },
    ],
    [
      'a required field',
      form('user', ['token']),
      { step: 'user', field: 'token', text: text('add it to spec.configuration') },
    ],
    [
      'a QR code',
      {
        ...form('scan', []),
        data_schema: [{ name: 'qr', selector: { qr_code: { data: 'x' } } }],
      } as FlowStep,
      { step: 'scan', text: text('QR code') },
    ],
    [
      'a step in the browser',
      { type: 'external', flow_id: 'f', step_id: 'auth' },
      { step: 'auth', text: text('needs a browser') },
    ],
  ])('%s ends the flow with the cause', (_, step, problem) => {
    expect(new FlowNavigator({ steps: [], fields: [] }).next(step)).toMatchObject({
      type: 'failed',
      problem,
    });
  });

  test('a menu does not have the option', () => {
    const steps = [{ stepId: 'user', menuOption: 'lamp', answers: [] }];
    expect(new FlowNavigator({ steps, fields: [] }).next(menu('user', 'light'))).toMatchObject({
      type: 'failed',
      problem: { text: 'the menu has no option lamp: choose one of light' },
    });
  });

  test('an answer that no form asks for stops the flow before its last step', () => {
    const fields = [answer('host', 'h'), answer('hots', 'h')];
    const step = form('user', ['host'], { last_step: true });
    expect(new FlowNavigator({ steps: [], fields }).next(step)).toMatchObject({
      type: 'failed',
      problem: { field: 'hots', text: text('no form asks for configuration.hots') },
    });
    expect(
      new FlowNavigator({ steps: [], fields, ofEntry: { choices: new Set() } }).next(step),
    ).toMatchObject({
      type: 'submit',
    });
  });

  test('progress of the hub is waited for, however long, and an abort ends the flow', () => {
    const navigator = new FlowNavigator({ steps: [], fields: [] });
    for (let n = 0; n < 100; n++)
      expect(navigator.next({ type: 'progress', flow_id: 'f', step_id: 'scan' })).toEqual({ type: 'wait' });
    expect(navigator.next({ type: 'progress_done', flow_id: 'f', step_id: 'scan' })).toEqual({
      type: 'read',
    });
    expect(navigator.next({ type: 'abort', flow_id: 'f', reason: 'already_configured' })).toMatchObject({
      type: 'aborted',
      problem: { kind: 'abort', key: 'already_configured' },
    });
  });

  test('an endless flow is given up', () => {
    const navigator = new FlowNavigator({ steps: [], fields: [answer('x', '1')] });
    const moves = Array.from({ length: 5 }, () => navigator.next(form('user', ['x'])).type);
    expect(moves).toEqual(['submit', 'submit', 'submit', 'failed', 'failed']);
    const wide = new FlowNavigator({ steps: [], fields: [] });
    const types = Array.from({ length: 60 }, (_, n) => wide.next(form(`step_${n}`, [])).type);
    expect(types.filter((type) => type === 'submit')).toHaveLength(40);
    expect(types.at(-1)).toBe('failed');
  });
});
