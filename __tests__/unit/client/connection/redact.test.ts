import { redactor, redactValue } from '../../../../operator/client/connection/redact';
import fc from '../../../fast-check';

describe('redactor', () => {
  test.each([
    ['plain', ['hunter2!'], "got 'hunter2!' here", "got '***' here"],
    ['every occurrence', ['hunter2'], 'hunter2 hunter2', '*** ***'],
    ['longest first', ['pass', 'password'], 'password pass', '*** ***'],
    ['characters of patterns', ['a.*+?(b)'], 'x a.*+?(b) y', 'x *** y'],
    ['URL-encoded', ['p@ss/wörd'], 'mysql://u:p%40ss%2Fw%C3%B6rd@db', 'mysql://u:***@db'],
    ['form-encoded', ['a b+c d'], 'token=a+b%2Bc+d&x=1', 'token=***&x=1'],
    ['JSON-escaped', ['say "hi"'], '{"v":"say \\"hi\\""}', '{"v":"***"}'],
    ['one line of several', ['-----KEY-----\nabcdef012345\n'], 'bad line: abcdef012345', 'bad line: ***'],
    ['the password in a URL', ['pg://me:hunter2@db/x'], 'hunter2 is wrong', '*** is wrong'],
    ['not the short ones', ['on', '', 'yes'], 'turn on: yes', 'turn on: yes'],
    ['nothing to mask', [], 'text', 'text'],
  ])('%s', (_what, secrets, given, expected) => {
    expect(redactor(secrets)(given)).toBe(expected);
  });

  test('leaves no secret in any text', () => {
    const secret = fc.stringMatching(/^[a-z0-9]{4,12}$/);
    fc.assert(
      fc.property(fc.array(secret, { minLength: 1 }), fc.array(fc.string()), (secrets, words) => {
        const given = secrets.map((each, index) => `${words[index] ?? ''}${each}`).join('');
        const redacted = redactor(secrets)(given);
        for (const each of secrets) expect(redacted).not.toContain(each);
      }),
    );
  });

  test('masks any line of text, also one that is no valid Unicode', () => {
    const text = fc
      .array(fc.integer({ min: 0, max: 0xffff }), { minLength: 4 })
      .map((units) => String.fromCharCode(...units))
      .filter((value) => value === value.trim() && !/[\r\n]/.test(value));
    fc.assert(
      fc.property(text, (value) =>
        expect(redactor([value])(`before ${value} after`)).toBe('before *** after'),
      ),
    );
  });
});

test('a value is masked in its texts, keys and numbers, and keeps its form', () => {
  const redact = redactor(['2700', 'hunter2']);
  expect(redactValue({ kelvin: 2700, list: [27001, null, true], hunter2: 'my hunter2' }, redact)).toEqual({
    kelvin: '***',
    list: ['***1', null, true],
    '***': 'my ***',
  });
});
