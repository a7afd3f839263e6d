import fc from 'fast-check';
import { Claims } from '../../../operator/runtime/identity-index';

const claimant = (id: string, second: number) => ({
  id,
  createdAt: `2026-01-01T00:00:${String(second).padStart(2, '0')}Z`,
  uid: `uid-${id}`,
});

test('the older of two has it, whichever is seen first', () => {
  const claims = new Claims();
  expect(claims.set(claimant('young', 2), 'kitchen')).toEqual([]);
  expect(claims.rival('young')).toBeUndefined();
  // The one that had it has to hear that it has lost it.
  expect(claims.set(claimant('old', 1), 'kitchen')).toEqual(['young']);
  expect(claims.rival('young')).toBe('old');
  expect(claims.rival('old')).toBeUndefined();
});

test('of two of the same second every process finds the same one older', () => {
  const one = new Claims();
  const other = new Claims();
  const pair = [claimant('a', 1), claimant('b', 1)] as const;
  for (const each of pair) one.set(each, 'kitchen');
  for (const each of [...pair].reverse()) other.set(each, 'kitchen');
  expect(one.rival('b')).toBe('a');
  expect(other.rival('b')).toBe('a');
});

test('it falls to the next when the holder goes, or wants something else', () => {
  const claims = new Claims();
  claims.set(claimant('a', 1), 'kitchen');
  claims.set(claimant('b', 2), 'kitchen');
  claims.set(claimant('c', 3), 'kitchen');
  expect(claims.remove('b')).toEqual([]);
  expect(claims.set(claimant('a', 1), 'attic')).toEqual(['c']);
  expect(claims.rival('c')).toBeUndefined();
  expect(claims.remove('a')).toEqual([]);
  expect(claims.rival('a')).toBeUndefined();
});

test('a repeated claim changes nobody’s right', () => {
  const claims = new Claims();
  claims.set(claimant('a', 1), 'kitchen');
  claims.set(claimant('b', 2), 'kitchen');
  expect(claims.set(claimant('a', 1), 'kitchen')).toEqual([]);
  expect(claims.set(claimant('b', 2), 'kitchen')).toEqual([]);
});

const ids = ['a', 'b', 'c', 'd'];
const move = fc.record({
  id: fc.constantFrom(...ids),
  claim: fc.option(fc.constantFrom('x', 'y'), { nil: undefined }),
});

test('whoever is not told has the same rival as before', () => {
  fc.assert(
    fc.property(fc.array(move, { maxLength: 30 }), (moves) => {
      const claims = new Claims();
      const wanted = new Map<string, string>();
      const rivals = () => new Map(ids.map((id) => [id, claims.rival(id)]));
      for (const { id, claim } of moves) {
        const before = rivals();
        const told =
          claim === undefined ? claims.remove(id) : claims.set(claimant(id, ids.indexOf(id)), claim);
        if (claim === undefined) wanted.delete(id);
        else wanted.set(id, claim);
        for (const other of ids) {
          const oldest = ids.find((each) => wanted.has(other) && wanted.get(each) === wanted.get(other));
          expect(claims.rival(other)).toBe(oldest === other ? undefined : oldest);
          if (other !== id && !told.includes(other)) expect(claims.rival(other)).toBe(before.get(other));
        }
        expect(told).not.toContain(id);
      }
    }),
  );
});
