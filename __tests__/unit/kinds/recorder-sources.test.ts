import { overriddenDatabase } from '../../../operator/kinds/recorder-sources';

describe('overriddenDatabase', () => {
  test('a URL beside a Secret has no effect', () => {
    expect(
      overriddenDatabase({ database: 'sqlite:////config/a.db', databaseSecretRef: { name: 'db' } }),
    ).toBe('spec.recorder has database and databaseSecretRef, and the Secret is used: remove database.');
  });

  test.each([
    ['no recorder', undefined],
    ['neither', {}],
    ['a URL alone', { database: 'sqlite:////config/a.db' }],
    ['a Secret alone', { databaseSecretRef: { name: 'db' } }],
  ])('%s is right', (_, recorder) => {
    expect(overriddenDatabase(recorder)).toBeUndefined();
  });
});
