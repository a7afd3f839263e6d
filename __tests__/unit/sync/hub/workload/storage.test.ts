import type { Claim } from '../../../../../operator/sync/hub/owned-objects';
import { claimSpec, differences } from '../../../../../operator/sync/hub/workload/storage';

type StorageSpec = Parameters<typeof claimSpec>[0];

const storage = (fields: Partial<StorageSpec> = {}): StorageSpec => ({
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

describe('claimSpec', () => {
  test('asks for a new claim as the spec says, and leaves the class to the cluster unless it is named', () => {
    expect(claimSpec(storage(), undefined)).toEqual({
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '5Gi' } },
    });
    expect(claimSpec(storage({ storageClassName: '' }), undefined)).toMatchObject({ storageClassName: '' });
  });

  test('keeps the class and the modes of a claim that exists', () => {
    const desired = storage({ storageClassName: 'slow', accessModes: ['ReadWriteMany'] });
    expect(claimSpec(desired, claim())).toMatchObject({
      storageClassName: 'fast',
      accessModes: ['ReadWriteOnce'],
    });
  });

  test('expands a bound volume, and never shrinks one', () => {
    expect(sizeOf(claimSpec(storage({ size: '8Gi' }), claim()))).toBe('8Gi');
    expect(sizeOf(claimSpec(storage({ size: '8Gi' }), claim({ phase: 'Pending' })))).toBe('5Gi');
    expect(sizeOf(claimSpec(storage({ size: '1Gi' }), claim()))).toBe('5Gi');
  });

  test('takes back an expansion that could not be done', () => {
    expect(sizeOf(claimSpec(storage({ size: '8Gi' }), claim({ size: '100Ti', capacity: '5Gi' })))).toBe(
      '8Gi',
    );
  });
});

describe('differences', () => {
  test('reports another class and missing modes', () => {
    const desired = storage({ storageClassName: 'slow', accessModes: ['ReadWriteMany'] });
    expect(differences(claim(), desired).join('\n')).toMatch(
      /class "fast", not "slow".*\n.*access modes ReadWriteOnce, not ReadWriteMany/,
    );
  });

  test('reports a size below that of the volume', () => {
    expect(differences(claim(), storage({ size: '1Gi' }))).toEqual([
      'villa-config has 5Gi, and a volume cannot shrink to 1Gi: set storage.size to 5Gi or more.',
    ]);
  });

  test('reports nothing for a claim that has all of it', () => {
    expect(differences(claim(), storage())).toEqual([]);
    expect(differences(claim({ modes: ['ReadWriteMany', 'ReadWriteOnce'] }), storage())).toEqual([]);
    expect(differences(claim({ size: '100Ti', capacity: '5Gi' }), storage({ size: '8Gi' }))).toEqual([]);
  });
});
