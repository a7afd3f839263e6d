import {
  digestOfSecret,
  quote,
  readSecretsYaml,
  writeSecretsYaml,
} from '../../../../operator/sync/secrets-yaml/secrets-yaml';
import { valuesIn } from '../../../../operator/sync/hub-connection/hub-redactor';
import fc from '../../../fast-check';

const write = (values: Readonly<Record<string, string>>, salt = 'salt') =>
  writeSecretsYaml(new Map(Object.entries(values)), salt);

describe('writeSecretsYaml', () => {
  test('quotes keys and values, sorted, and adds salt and hash', () => {
    const { text, hash } = write({ b: 'yes', a: '0123' });
    expect(text).toBe(
      `"a": "0123"\n"b": "yes"\n"hub_operator_salt": "salt"\n"hub_operator_hash": "${hash}"\n`,
    );
    expect(hash).toMatch(/^sha256:[0-9a-f]{64}$/);
  });

  test('the hash is that of the values and of the salt', () => {
    const { hash } = write({ a: '1', b: '2' });
    expect(write({ b: '2', a: '1' }).hash).toBe(hash);
    expect(write({ a: '1', b: '3' }).hash).not.toBe(hash);
    expect(write({ a: '1', b: '2' }, 'other').hash).not.toBe(hash);
  });
});

describe('readSecretsYaml', () => {
  test('lists that aliases repeat, which have 2^60 values as a text, are not secrets', () => {
    const levels = Array.from(
      { length: 60 },
      (_, level) => `x${level + 1}: &x${level + 1} [*x${level}, *x${level}]\n`,
    );
    const text = `x0: &x0 [a]\n${levels.join('')}${write({ key: 'value' }).text}`;
    expect(readSecretsYaml(text)!.values.get('key')).toBe('value');
    expect(valuesIn(new Map([['secrets.yaml', text]]))).toEqual(['value', 'salt']);
  });

  test('reads written values', () => {
    const key = fc.stringMatching(/^[-._a-zA-Z0-9]{1,20}$/).filter((name) => name !== '__proto__');
    fc.assert(
      fc.property(fc.dictionary(key, fc.string({ unit: 'binary' }), { noNullPrototype: true }), (values) => {
        const { text, hash } = write(values, 'a salt');
        const read = readSecretsYaml(text)!;
        expect({ hash: read.hash, salt: read.salt }).toEqual({ hash, salt: 'a salt' });
        expect(Object.fromEntries(read.values)).toEqual({
          ...values,
          hub_operator_hash: hash,
          hub_operator_salt: 'a salt',
        });
      }),
    );
  });

  test.each(['', 'a: [', '- a', 'text', 'login: hunter2', 'hub_operator_hash: x'])(
    'a file that the operator did not generate, %j, has none',
    (text) => {
      expect(readSecretsYaml(text)).toBeUndefined();
    },
  );
});

describe('writeSecretsYaml: values that no resource has any more', () => {
  test('are in the file, and named', () => {
    const { text, hash } = writeSecretsYaml(
      new Map([['b', '1']]),
      'salt',
      new Map([
        ['c', '2'],
        ['a', '3'],
      ]),
    );
    expect(text).toContain('"a": "3"\n"b": "1"\n"c": "2"\n"hub_operator_kept": "a c"\n');
    const read = readSecretsYaml(text)!;
    expect([...read.kept].sort()).toEqual(['a', 'c']);
    expect(read.values.get('a')).toBe('3');
    expect(hash).not.toBe(write({ a: '3', b: '1', c: '2' }).hash);
    expect(readSecretsYaml(write({ b: '1' }).text)!.kept.size).toBe(0);
  });
});

describe('digestOfSecret', () => {
  const read = (values: Readonly<Record<string, string>>, salt: string) =>
    readSecretsYaml(write(values, salt).text)!;

  test('differs for another value or salt, and is empty for no value', () => {
    const digest = digestOfSecret(read({ a: '1' }, 'x'), 'a');
    expect(digest).toMatch(/^[0-9a-f]{32}$/);
    expect(digestOfSecret(read({ a: '1', b: '2' }, 'x'), 'a')).toBe(digest);
    expect(digestOfSecret(read({ a: '2' }, 'x'), 'a')).not.toBe(digest);
    expect(digestOfSecret(read({ a: '1' }, 'y'), 'a')).not.toBe(digest);
    expect(digestOfSecret(read({ a: '1' }, 'x'), 'b')).toBe('');
  });
});

describe('quote', () => {
  test.each([
    ['', '""'],
    ['a "b" \\', '"a \\"b\\" \\\\"'],
    ['a\nb\t', '"a\\x0Ab\\x09"'],
    ['ä', '"\\xE4"'],
    ['\u2028', '"\\u2028"'],
    ['🏠', '"\\U0001F3E0"'],
  ])('%j is %s', (text, quoted) => {
    expect(quote(text)).toBe(quoted);
  });
});
