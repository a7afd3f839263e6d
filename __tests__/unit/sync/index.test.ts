import { kinds } from '../../../operator/kinds';
import { syncModules } from '../../../operator/sync';
import { services } from './fixtures';

describe('syncModules', () => {
  const modules = syncModules(services({ applier: {}, cache: {}, cluster: {}, metrics: {}, secrets: {} }));

  test.each(kinds.map(({ kind }) => kind))('%s has a sync module', (kind) => {
    expect(modules.of(kind)).toMatchObject({ sync: expect.any(Function) });
  });

  test('a kind without a sync module is an error that names the file to complete', () => {
    expect(() => modules.of('HubLamp')).toThrow(
      'cannot reconcile HubLamp: operator/sync/index.ts has no sync module for it',
    );
  });
});
