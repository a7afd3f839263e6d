import fc from 'fast-check';
import { parseQuantity } from '../../../../../operator/sync/hub/workload/quantity';
import type { Claim } from '../../../../../operator/sync/hub/owned-objects';
import { claimSpec, differences } from '../../../../../operator/sync/hub/workload/storage';

type Wish = Parameters<typeof claimSpec>[0];

const wish = (fields: Partial<Wish> = {}): Wish => ({
  size: '5Gi',
  accessModes: ['ReadWriteOnce'],
  retain: false,
  ...fields,
});

const claim = (
  fields: { size?: string; capacity?: string; phase?: string; class?: string; modes?: string[] } = {},
): Claim => ({
  metadata: { name: 'villa-config' },
  spec: {
    accessModes: fields.modes ?? ['ReadWriteOnce'],
    storageClassName: fields.class ?? 'fast',
    resources: { requests: { storage: fields.size ?? '5Gi' } },
  },
  status: { phase: fields.phase ?? 'Bound', capacity: { storage: fields.capacity ?? fields.size ?? '5Gi' } },
});

const sizeOf = (spec: ReturnType<typeof claimSpec>) =>
  (spec['resources'] as { requests: { storage: string } }).requests.storage;

test('a new claim is as wished for, and leaves the class to the cluster unless it is named', () => {
  expect(claimSpec(wish(), undefined)).toEqual({
    accessModes: ['ReadWriteOnce'],
    resources: { requests: { storage: '5Gi' } },
  });
  expect(claimSpec(wish({ storageClassName: '' }), undefined)).toMatchObject({ storageClassName: '' });
});

test('class and modes stay what they are, and the difference is told', () => {
  const asked = wish({ storageClassName: 'slow', accessModes: ['ReadWriteMany'] });
  expect(claimSpec(asked, claim())).toMatchObject({
    storageClassName: 'fast',
    accessModes: ['ReadWriteOnce'],
  });
  expect(differences(claim(), asked).join('\n')).toMatch(
    /class "fast", not "slow".*\n.*access modes ReadWriteOnce, not ReadWriteMany/,
  );
  expect(differences(claim(), wish())).toEqual([]);
  expect(differences(claim({ modes: ['ReadWriteMany', 'ReadWriteOnce'] }), wish())).toEqual([]);
});

test('a volume grows once it is bound, and never shrinks', () => {
  expect(sizeOf(claimSpec(wish({ size: '8Gi' }), claim()))).toBe('8Gi');
  expect(sizeOf(claimSpec(wish({ size: '8Gi' }), claim({ phase: 'Pending' })))).toBe('5Gi');
  expect(sizeOf(claimSpec(wish({ size: '1Gi' }), claim()))).toBe('5Gi');
  expect(differences(claim(), wish({ size: '1Gi' }))).toEqual([
    'villa-config has 5Gi, and a volume cannot shrink to 1Gi: set storage.size to 5Gi or more.',
  ]);
});

test('an expansion that came to nothing can be taken back', () => {
  const asked = claim({ size: '100Ti', capacity: '5Gi' });
  expect(sizeOf(claimSpec(wish({ size: '8Gi' }), asked))).toBe('8Gi');
  expect(differences(asked, wish({ size: '8Gi' }))).toEqual([]);
});

test.each([
  ['5Gi', 5 * 2 ** 30],
  ['5368709120', 5 * 2 ** 30],
  ['1.5Gi', 1.5 * 2 ** 30],
  ['5G', 5e9],
  ['1e3', 1000],
  ['1E', 1e18],
  ['12E2', 1200],
  ['500m', 0.5],
  ['250u', 0.00025],
  ['.5k', 500],
  ['0', 0],
])('%s is %d', (quantity, amount) => expect(parseQuantity(quantity)).toBeCloseTo(amount, 9));

test('suffixes are steps', () => {
  const steps = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 999 }), fc.integer({ min: 0, max: 8 }), (number, index) => {
      expect(parseQuantity(`${number}${steps[index]}`)).toBeLessThan(
        parseQuantity(`${number}${steps[index + 1]}`),
      );
    }),
  );
  expect(parseQuantity('five')).toBeNaN();
});
