import type { HubSecretsSpec } from '../../../../operator/kinds';
import { combineSecrets, type Combined, invalidListedKey } from '../../../../operator/sync/secrets/combine';

const content = (values: Readonly<Record<string, string>>, binary: readonly string[] = []) => ({
  values: new Map(Object.entries(values)),
  bytes: new Map(Object.entries(values).map(([key, value]) => [key, Buffer.from(value)])),
  binary: new Set(binary),
});

const secrets = new Map([
  ['mqtt', content({ user: 'ada', password: 'one', port: '1883' })],
  ['web', content({ password: 'two', token: 'three' })],
  ['odd', content({ logger: 'x', good: 'y' })],
  ['own', content({ hub_operator_hash: 'x' })],
  ['cert', content({ pem: 'text', der: '\ufffd' }, ['der'])],
]);

const combine = (...secretRefs: HubSecretsSpec['secretRefs']): Combined =>
  combineSecrets({ secretRefs }, secrets);

describe('combineSecrets', () => {
  test.each<[string, HubSecretsSpec['secretRefs'], Record<string, string>]>([
    ['all keys', [{ name: 'mqtt' }], { user: 'ada', password: 'one', port: '1883' }],
    ['listed keys', [{ name: 'mqtt', keys: ['port'] }], { port: '1883' }],
    [
      'renamed keys',
      [{ name: 'mqtt', items: [{ key: 'password', as: 'mqtt_password' }] }],
      { mqtt_password: 'one' },
    ],
    [
      'listed and renamed keys',
      [{ name: 'mqtt', keys: ['user'], items: [{ key: 'user', as: 'login' }] }],
      { user: 'ada', login: 'ada' },
    ],
    [
      'of two with one name the later one',
      [{ name: 'mqtt', keys: ['password'] }, { name: 'web' }],
      { password: 'two', token: 'three' },
    ],
    [
      'and the other way round',
      [{ name: 'web' }, { name: 'mqtt', keys: ['password'] }],
      { password: 'one', token: 'three' },
    ],
    ['no keys', [{ name: 'mqtt', keys: [] }], {}],
    [
      'the odd key under another name',
      [{ name: 'odd', items: [{ key: 'logger', as: 'level' }] }],
      { level: 'x' },
    ],
    ['the text beside a key that is none', [{ name: 'cert', keys: ['pem'] }], { pem: 'text' }],
  ])('%s', (_, secretRefs, values) => {
    const combined = combine(...secretRefs);
    expect(combined.type === 'values' && Object.fromEntries(combined.values)).toEqual(values);
  });

  test.each<[string, HubSecretsSpec['secretRefs'], object]>([
    [
      'a Secret that does not exist',
      [{ name: 'mqtt' }, { name: 'lost' }],
      {
        type: 'missing',
        reason: 'SecretNotFound',
        message: expect.stringContaining('lost in spec.secretRefs[1]'),
      },
    ],
    [
      'a key that does not exist',
      [{ name: 'mqtt', keys: ['lost'] }],
      {
        type: 'missing',
        reason: 'KeyNotFound',
        message: expect.stringContaining('the key lost of the Secret mqtt'),
      },
    ],
    [
      'logger, which the hub ignores',
      [{ name: 'odd' }],
      {
        type: 'invalid',
        message:
          'The key logger of the Secret odd in spec.secretRefs[0] is ignored by the hub under the name logger: give it another name by items, or list the others in spec.secretRefs[0].keys.',
      },
    ],
    [
      'a reserved name',
      [{ name: 'own' }],
      { type: 'invalid', message: expect.stringContaining('is reserved') },
    ],
    [
      'a value that is no text',
      [{ name: 'cert' }],
      {
        type: 'invalid',
        message: expect.stringMatching(/^The key der of the Secret cert .* is not UTF-8 text/),
      },
    ],
  ])('%s is named', (_, secretRefs, expected) => {
    expect(combine(...secretRefs)).toEqual(expected);
  });

  test.each([['logger'], ['hub_operator_hash']])(
    'a listed key %s is rejected with the message that invalidListedKey gives without the Secret',
    (key) => {
      const secretRefs = [{ name: 'mqtt' }, { name: key === 'logger' ? 'odd' : 'own', keys: [key] }];
      const message = invalidListedKey({ secretRefs });
      expect(message).toContain(`The key ${key} of the Secret`);
      expect(combine(...secretRefs)).toEqual({ type: 'invalid', message });
      expect(invalidListedKey({ secretRefs: [{ name: 'odd', items: [{ key, as: 'level' }] }] })).toBe(
        undefined,
      );
    },
  );
});
