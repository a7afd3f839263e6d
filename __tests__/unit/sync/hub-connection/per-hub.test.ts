import type { Hub } from '../../../../operator/kinds/index';
import { PerHub } from '../../../../operator/sync/hub-connection/per-hub';
import { aHub, services } from '../fixtures';

const hub = (name: string, uid: string) => aHub({ metadata: { name, uid } });

describe('PerHub', () => {
  test('keeps a value for each Hub, and drops those of deleted Hubs', () => {
    const present = new Map<string, Hub>([
      ['a', hub('a', '1')],
      ['b', hub('b', '2')],
    ]);
    const { cache } = services({
      cache: { get: <T>(_: string, __: string, name: string) => present.get(name) as T },
    });
    const values = new PerHub<string>(cache);
    values.set(hub('a', '1'), 'first');
    values.set(hub('b', '2'), 'second');
    expect([values.get(hub('a', '1')), values.get(hub('b', '2'))]).toEqual(['first', 'second']);
    present.set('a', hub('a', '3')); // deleted, and created again under the same name
    expect(values.get(hub('a', '3'))).toBeUndefined();
    values.set(hub('a', '3'), 'third');
    expect(values.size).toBe(2);
    values.delete(hub('b', '2'));
    expect(values.get(hub('b', '2'))).toBeUndefined();
  });
});
