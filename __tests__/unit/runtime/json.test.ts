import { parseJson, unsafeIntegers } from '../../../operator/runtime/json';
import fc from '../../fast-check';

const found = (text: string) => unsafeIntegers(parseJson(text), 'spec');

describe('parseJson', () => {
  test('parses every value that JavaScript can hold as JSON.parse does', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        fc.pre(found(text).length === 0);
        expect(parseJson(text)).toEqual(JSON.parse(text));
      }),
      { seed: Number(process.env['SEED'] ?? 1) },
    );
  });

  test.each([
    '{"a": "chat 12345678901234567890"}',
    '{"12345678901234567890": 1}',
    '{"a": "a quote \\" and 12345678901234567890"}',
    '{"a": 9007199254740991}',
    '{"a": -9007199254740991, "b": "9007199254740993"}',
    '{"a": 3.14159265358979323846}',
    '{"a": "deadbeef-1234567890123456-e+20"}',
  ])('leaves %s as it is', (text) => {
    expect(found(text)).toEqual([]);
    expect(parseJson(text)).toEqual(JSON.parse(text));
  });

  test('throws what JSON.parse throws', () => {
    expect(() => parseJson('{"a": 12345678901234567890')).toThrow(SyntaxError);
  });
});

describe('unsafeIntegers', () => {
  test('finds integers beyond 2^53 with their path and their digits', () => {
    const text =
      '{"actions": [{"data": {"chat_id": 9007199254740993}}], "max": -12345678901234567890, "x": 1.2345678901234567e+19}';
    expect(found(text)).toEqual([
      { path: 'spec.actions[0].data.chat_id', digits: '9007199254740993' },
      { path: 'spec.max', digits: '-12345678901234567890' },
      { path: 'spec.x', digits: '1.2345678901234567e+19' },
    ]);
  });
});
