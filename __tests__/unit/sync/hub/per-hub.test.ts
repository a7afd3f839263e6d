import type { Hub } from '../../../../operator/kinds';
import type { Cache } from '../../../../operator/runtime/cache';
import { PerHub } from '../../../../operator/sync/hub/per-hub';

const hub = (name: string, uid: string) => ({ metadata: { namespace: 'home', name, uid } }) as Hub;

describe('PerHub', () => {
  test('keeps a value per Hub and drops those of deleted Hubs', () => {
    const present = new Map([
      ['a', hub('a', '1')],
      ['b', hub('b', '2')],
    ]);
    const cache = { get: (_kind: string, _namespace: string, name: string) => present.get(name) };
    const memory = new PerHub<string>(cache as unknown as Cache);
    memory.set(hub('a', '1'), 'first');
    memory.set(hub('b', '2'), 'second');
    expect([memory.get(hub('a', '1')), memory.get(hub('b', '2'))]).toEqual(['first', 'second']);
    present.set('a', hub('a', '3')); // deleted, and made anew under the same name
    expect(memory.get(hub('a', '3'))).toBeUndefined();
    memory.set(hub('a', '3'), 'third');
    expect(memory.size).toBe(2);
    memory.delete(hub('b', '2'));
    expect(memory.get(hub('b', '2'))).toBeUndefined();
  });
});
