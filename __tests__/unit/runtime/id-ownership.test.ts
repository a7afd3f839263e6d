import { IdOwnership } from '../../../operator/runtime/id-ownership';
import { objectKey, type ObjectKey } from '../../../operator/runtime/object-key';
import fc from '../../fast-check';

const areaKey = (name: string): ObjectKey => objectKey('HubArea', 'home', name);
const [a, b, c, d] = [areaKey('a'), areaKey('b'), areaKey('c'), areaKey('d')];

/** The order of the uids is opposite to that of the ages, so that sorting by uid is not sorting by age. */
const contender = (key: ObjectKey, second: number) => ({
  key,
  creationTimestamp: `2026-01-01T00:00:${String(second).padStart(2, '0')}Z`,
  uid: `uid-${String(99 - second)}`,
});

describe('IdOwnership', () => {
  test('the older of two owns the object, whichever is seen first', () => {
    const index = new IdOwnership();
    expect(index.set(contender(b, 2), 'kitchen')).toEqual([]);
    expect(index.conflictingOwner(b)).toBeUndefined();
    expect(index.set(contender(a, 1), 'kitchen')).toEqual([b]);
    expect(index.conflictingOwner(b)).toBe(a);
    expect(index.conflictingOwner(a)).toBeUndefined();
  });

  test('of two of the same second, the uid decides in every process', () => {
    const one = new IdOwnership();
    const other = new IdOwnership();
    const pair = [
      { ...contender(a, 1), uid: 'uid-1' },
      { ...contender(b, 1), uid: 'uid-2' },
    ];
    for (const each of pair) one.set(each, 'kitchen');
    for (const each of [...pair].reverse()) other.set(each, 'kitchen');
    expect(one.conflictingOwner(b)).toBe(a);
    expect(other.conflictingOwner(b)).toBe(a);
  });

  test('the next one takes over when the owner is deleted or takes another identity', () => {
    const index = new IdOwnership();
    index.set(contender(a, 1), 'kitchen');
    index.set(contender(b, 2), 'kitchen');
    index.set(contender(c, 3), 'kitchen');
    expect(index.remove(b)).toEqual([]);
    expect(index.set(contender(a, 1), 'attic')).toEqual([c]);
    expect(index.conflictingOwner(c)).toBeUndefined();
    expect(index.remove(a)).toEqual([]);
    expect(index.conflictingOwner(a)).toBeUndefined();
  });

  test('setting the same identity again changes no owner', () => {
    const index = new IdOwnership();
    index.set(contender(a, 1), 'kitchen');
    index.set(contender(b, 2), 'kitchen');
    expect(index.set(contender(a, 1), 'kitchen')).toEqual([]);
    expect(index.set(contender(b, 2), 'kitchen')).toEqual([]);
  });

  test('the contenders of an identity are listed, the oldest first, also for one that is not in the index', () => {
    const index = new IdOwnership();
    index.set(contender(b, 2), 'kitchen');
    index.set(contender(a, 1), 'kitchen');
    index.set(contender(c, 3), 'attic');
    expect(index.others(d, 'kitchen')).toEqual([a, b]);
    expect(index.others(a, 'kitchen')).toEqual([b]);
    expect(index.others(c, 'attic')).toEqual([]);
    expect(index.others(c, 'cellar')).toEqual([]);
  });

  const keys = [a, b, c, d];
  const change = fc.record({
    key: fc.constantFrom(...keys),
    identity: fc.option(fc.constantFrom('x', 'y'), { nil: undefined }),
  });

  test('a resource that is not returned has the same conflicting owner as before', () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 30 }), (changes) => {
        const index = new IdOwnership();
        const identities = new Map<ObjectKey, string>();
        const owners = () => new Map(keys.map((key) => [key, index.conflictingOwner(key)]));
        for (const { key, identity } of changes) {
          const before = owners();
          const returned =
            identity === undefined
              ? index.remove(key)
              : index.set(contender(key, keys.indexOf(key)), identity);
          if (identity === undefined) identities.delete(key);
          else identities.set(key, identity);
          for (const other of keys) {
            const oldest = keys.find(
              (each) => identities.has(other) && identities.get(each) === identities.get(other),
            );
            expect(index.conflictingOwner(other)).toBe(oldest === other ? undefined : oldest);
            if (other !== key && !returned.includes(other))
              expect(index.conflictingOwner(other)).toBe(before.get(other));
          }
          expect(returned).not.toContain(key);
        }
      }),
    );
  });
});
