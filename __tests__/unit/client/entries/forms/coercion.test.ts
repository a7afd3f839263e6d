import type { FormField } from '../../../../../operator/client/connection/flow-step';
import { coerce } from '../../../../../operator/client/entries/forms/coercion';

const field = (shape: Partial<FormField>): FormField => ({ name: 'x', ...shape });
const selector = (type: string, config: Readonly<Record<string, unknown>> | null = {}) =>
  field({ selector: { [type]: config } });
const text = (value: string) => ({ type: 'text', text: value }) as const;
const json = (value: unknown) => ({ type: 'json', value }) as const;

describe('coerce', () => {
  test.each([
    ['a number selector', selector('number', { min: 0, max: 10 }), '8', 8],
    ['a number selector with blanks', selector('number'), ' 2.5 ', 2.5],
    ['a negative number', selector('number', { min: -10 }), '-5', -5],
    ['a boolean selector', selector('boolean', null), 'on', true],
    ['a boolean selector', selector('boolean', null), 'no', false],
    ['a boolean selector', selector('boolean', null), 'False', false],
    ['a text selector', selector('text', { multiple: false }), '0123', '0123'],
    ['a text selector of several lines', selector('text', { multiline: true }), 'a\nb', 'a\nb'],
    ['a text selector of several values', selector('text', { multiple: true }), 'one', ['one']],
    ['an entity selector of several', selector('entity', { multiple: true }), 'light.one', ['light.one']],
    ['a select selector', selector('select', { options: ['1', '2'] }), '2', '2'],
    [
      'a select selector with labels',
      selector('select', { options: [{ value: 'a', label: 'A' }] }),
      'a',
      'a',
    ],
    [
      'a select selector of own values',
      selector('select', { options: [], custom_value: true }),
      'mine',
      'mine',
    ],
    ['a select selector without options', selector('select', { options: [] }), 'x', 'x'],
    ['a select selector with an option twice', selector('select', { options: ['x', 'x'] }), 'x', 'x'],
    ['a select without options', field({ type: 'select', options: [] }), 'x', 'x'],
    ['a multi select without options', field({ type: 'multi_select', options: {} }), 'x', ['x']],
    ['a duration selector', selector('duration'), '01:30:00', { hours: 1, minutes: 30, seconds: 0 }],
    ['a duration selector', selector('duration'), '00:05', { hours: 0, minutes: 5, seconds: 0 }],
    ['a duration in seconds', selector('duration'), '90', { seconds: 90 }],
    ['an unknown selector', selector('qr_code'), 'x', 'x'],
    ['an integer', field({ type: 'integer', valueMin: 1, valueMax: 65535 }), '1883', 1883],
    ['a float', field({ type: 'float' }), '1e3', 1000],
    ['a boolean', field({ type: 'boolean' }), 'yes', true],
    ['a string', field({ type: 'string' }), 'true', 'true'],
    [
      'a select of numbers',
      field({
        type: 'select',
        options: [
          [5, 'five'],
          [10, 'ten'],
        ],
      }),
      '10',
      10,
    ],
    ['a multi select', field({ type: 'multi_select', options: { a: 'A', b: 'B' } }), 'b', ['b']],
    ['a field without a description', field({}), '5', '5'],
  ])('%s is converted from the text %j', (_, shape, given, expected) => {
    expect(coerce(shape, text(given))).toEqual({ value: expected });
  });

  test.each([
    [
      'a list',
      selector('entity', { multiple: true }),
      ['light.one', 'light.two'],
      ['light.one', 'light.two'],
    ],
    ['a duration', selector('duration'), { minutes: '5' }, { minutes: 5 }],
    ['a number as text', selector('number'), '7', 7],
    ['an object', selector('object'), { a: [1] }, { a: [1] }],
    ['a location', selector('location'), { latitude: '1.5', longitude: 2 }, { latitude: 1.5, longitude: 2 }],
    ['a choice of a hub that shows no options', selector('select', { options: [] }), 'a', 'a'],
    ['a choice of such a list', field({ type: 'multi_select', options: [] }), ['a'], ['a']],
    ['a nullable string', field({ type: 'string', allow_none: true }), null, null],
  ])('%s is accepted as JSON', (_, shape, given, expected) => {
    expect(coerce(shape, json(given))).toEqual({ value: expected });
  });

  test.each([
    ['a number', selector('number'), 'warm', 'must be number'],
    ['a number below its minimum', selector('number', { min: 5 }), '4', 'must be >= 5'],
    ['a choice', selector('select', { options: ['a', 'b'] }), 'c', 'must be one of a, b'],
    ['a boolean', selector('boolean'), 'perhaps', 'must be boolean'],
    ['a duration', selector('duration'), 'long', 'must be object'],
  ])('%s that does not match is refused without showing its value', (_, shape, given, problem) => {
    expect(coerce(shape, text(given))).toEqual({ problem });
  });

  test.each([
    ['a large integer', selector('number'), text('12345678901234567890')],
    ['an infinite number', field({ type: 'float' }), text('Infinity')],
  ])('%s would not arrive as written', (_, shape, given) => {
    expect(coerce(shape, given)).toEqual({ problem: 'must be a number that can be represented exactly' });
  });

  test('null is not converted', () => {
    expect(coerce(selector('number'), json(null))).toEqual({ problem: 'must not be null' });
  });

  test('the hub decides about a field that it describes only in part', () => {
    expect(coerce(field({ type: 'integer' }), text('many'))).toEqual({ value: 'many' });
    expect(coerce(field({ type: 'select', options: [['a', 'A']] }), text('b'))).toEqual({ value: 'b' });
  });
});
