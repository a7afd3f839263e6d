import type { FormField } from '../../../../../operator/client/connection/flow-step';
import type { Answer, Value } from '../../../../../operator/client/entries/forms/answer';
import { fillForm } from '../../../../../operator/client/entries/forms/fill-form';

const answer = (field: string, value: string | Value): Answer => ({
  id: `configuration.${field}`,
  field,
  value: typeof value === 'string' ? { type: 'text', text: value } : value,
});
const lookup =
  (...answers: readonly Answer[]) =>
  (field: string) =>
    answers.find((each) => each.field === field);

const FORM: readonly FormField[] = [
  { name: 'host', type: 'string', required: true },
  { name: 'port', type: 'integer', required: true, default: 1883 },
  { name: 'note', type: 'string', description: { suggested_value: 'present' } },
  {
    name: 'more',
    type: 'expandable',
    required: true,
    schema: [{ name: 'tls', type: 'boolean' }],
  },
];

describe('fillForm', () => {
  test('uses answers for fields and sections, suggestions of the hub, and no field that has a default', () => {
    expect(fillForm(FORM, lookup(answer('host', 'a'), answer('more.tls', 'on')))).toEqual({
      data: { host: 'a', note: 'present', more: { tls: true } },
      uploads: [],
      fields: ['host', 'port', 'note', 'more.tls'],
      used: ['configuration.host', 'configuration.more.tls'],
    });
  });

  test('a section that is required is sent empty', () => {
    expect(fillForm(FORM, lookup(answer('host', 'a')))).toMatchObject({ data: { more: {} } });
  });

  test('a field whose answer was removed is left empty', () => {
    const filled = fillForm(FORM, lookup(answer('host', 'a')), (field) => field === 'note');
    expect(filled).toMatchObject({ data: { host: 'a', more: {} } });
    expect('data' in filled && filled.data).not.toHaveProperty('note');
  });

  test('a required field without an answer is named', () => {
    expect(fillForm(FORM, lookup())).toEqual({ field: 'host', text: 'the form needs the field host' });
  });

  test('a required field that is shown only under a condition may stay empty', () => {
    const form = [{ name: 'x', type: 'string', required: true, visible: { field: 'y' } }];
    expect(fillForm(form, lookup())).toMatchObject({ data: {} });
  });

  test('a value that does not match is named with its place', () => {
    const form = [{ name: 'level', selector: { number: { min: 0 } } }];
    expect(fillForm(form, lookup(answer('level', 'high')))).toEqual({
      field: 'level',
      text: 'configuration.level must be number',
    });
  });

  test('a file is uploaded in place of its value', () => {
    const file = { type: 'file', content: Buffer.from('x'), fileName: 'ca.crt' } as const;
    const form = [
      { name: 'tls', type: 'expandable', schema: [{ name: 'ca', selector: { file: { accept: '.crt' } } }] },
    ];
    expect(fillForm(form, lookup(answer('tls.ca', file)))).toMatchObject({
      data: { tls: { ca: '' } },
      uploads: [{ path: ['tls', 'ca'], file }],
    });
  });

  test('required switches, constants and sections have the values that the UI sends without showing them; others need an answer', () => {
    const more: FormField = {
      name: 'more',
      type: 'expandable',
      required: true,
      schema: [
        { name: 'cert', required: true, selector: { boolean: {} } },
        { name: 'tls', required: true, type: 'boolean' },
        { name: 'kind', required: true, selector: { constant: { value: 'x' } } },
        { name: 'on', required: true, type: 'boolean', default: true },
      ],
    };
    expect(fillForm([more], lookup())).toMatchObject({
      data: { more: { cert: false, tls: false, kind: 'x' } },
    });
    const choice: FormField = {
      name: 'ca',
      required: true,
      selector: { select: { options: ['off', 'auto'] } },
    };
    const closed: FormField = { ...more, expanded: false, schema: [choice] };
    expect(fillForm([closed], lookup())).toMatchObject({ data: { more: { ca: 'off' } } });
    for (const seen of [{ ...closed, expanded: true }, choice])
      expect(fillForm([seen], lookup())).toMatchObject({ text: expect.stringContaining('needs the field') });
    const number: FormField = { name: 'port', required: true, selector: { number: { min: 1 } } };
    expect(fillForm([number], lookup())).toMatchObject({ text: 'the form needs the field port' });
  });

  test('a required choice in a closed section has its first value, as in the UI; a visible one needs an answer', () => {
    const ca = { name: 'ca', required: true, selector: { select: { options: ['off', 'auto'] } } };
    const verify = { name: 'verify', required: true, type: 'select', options: [['no', 'No']] };
    const section = (expanded: boolean): FormField => ({
      name: 'more',
      type: 'expandable',
      required: true,
      expanded,
      schema: [ca, verify] as readonly FormField[],
    });
    expect(fillForm([section(false)], lookup())).toMatchObject({
      data: { more: { ca: 'off', verify: 'no' } },
    });
    expect(fillForm([section(true)], lookup())).toMatchObject({ text: 'the form needs the field more.ca' });
    expect(fillForm([verify as FormField], lookup())).toMatchObject({ field: 'verify' });
  });

  test('a constant is sent unchanged', () => {
    const form = [
      { name: 'a', type: 'constant', value: 5 },
      { name: 'b', required: true, selector: { constant: { value: 'x' } } },
    ];
    expect(fillForm(form, lookup())).toMatchObject({ data: { a: 5, b: 'x' } });
  });
});
