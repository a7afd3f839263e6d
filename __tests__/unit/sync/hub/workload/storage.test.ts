import type { Hub } from '../../../../../operator/kinds';
import type { ApiRequest } from '../../../../../operator/runtime/api-client';
import type { ApplyOptions, Manifest } from '../../../../../operator/runtime/apply';
import { ObjectRejected } from '../../../../../operator/runtime/apply-errors';
import type { ClusterObject, ResourceType } from '../../../../../operator/runtime/objects';
import type { Claim } from '../../../../../operator/sync/hub-pod/owned-objects';
import { claimSpec, differences, ensureStorage } from '../../../../../operator/sync/hub/workload/storage';
import { aHub, aHubContext, services } from '../../fixtures';

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
  test('requests a new claim as in the spec, and leaves the class to the cluster unless it is named', () => {
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

  test('takes back an expansion that failed', () => {
    expect(sizeOf(claimSpec(storage({ size: '8Gi' }), claim({ size: '100Ti', capacity: '5Gi' })))).toBe(
      '8Gi',
    );
  });
});

describe('ensureStorage', () => {
  /** A cluster with a claim whose class cannot expand: the API server refuses a larger request with 403. */
  function rigid(present: Claim | undefined, hubs: readonly Hub[] = []) {
    const applied: { manifest: Manifest; options: ApplyOptions }[] = [];
    const apply = <T extends ClusterObject>(_: unknown, manifest: Manifest, options: ApplyOptions) => {
      if (sizeOf(manifest['spec'] as ReturnType<typeof claimSpec>) !== '5Gi')
        return Promise.reject(new ObjectRejected('the class must support resize', {}, true));
      applied.push({ manifest, options });
      return Promise.resolve(present as unknown as T);
    };
    const find = () => Promise.resolve(present as never);
    const given = services({
      applier: { apply, find, isOurs: () => true, labels: () => ({}) },
      cache: {
        get: () => undefined,
        list: function* <T>() {
          yield* hubs as readonly T[];
        },
      },
      cluster: { request: <T>() => Promise.resolve({ items: [] } as T) },
    });
    return { applied, step: ensureStorage(given) };
  }

  test('lets retain take effect although the expansion beside it is refused', async () => {
    const { applied, step } = rigid(claim());
    const context = aHubContext(aHub({ spec: { storage: { size: '8Gi', retain: true } } }));
    expect(await step.run(context)).toMatchObject({ claim: { metadata: { name: 'villa-config' } } });
    expect(applied).toMatchObject([{ options: { ownerReference: 'never' } }]);
    expect(context.conditions['StorageReady']).toMatchObject({
      status: 'False',
      reason: 'Mismatch',
      message: expect.stringContaining('must support resize'),
    });
  });

  test('does not own a claim to which another Hub refers', async () => {
    for (const [existingClaim, ownerReference] of [
      ['villa-config', 'never'],
      ['attic', 'at creation'],
    ] as const) {
      const lodger = aHub({
        metadata: { name: 'lodger', uid: 'lodger' },
        spec: { storage: { existingClaim } },
      });
      const { applied, step } = rigid(claim(), [lodger]);
      // The Hub has had the claim before.
      await step.run(aHubContext(aHub({ metadata: { creationTimestamp: '2020-01-01T00:00:00Z' } })));
      expect(applied).toMatchObject([{ options: { ownerReference } }]);
    }
  });

  test('releases the volume, the login and the delivered files of another Hub before it reports that the claim serves that one', async () => {
    const house = aHub({
      metadata: { name: 'house', uid: 'house', creationTimestamp: '2020-01-01T00:00:00Z' },
    });
    const lodger = aHub({ spec: { storage: { existingClaim: 'house-config' } } });
    const released: string[] = [];
    const given = services({
      applier: {
        find: (_: unknown, namespace: string, name: string) =>
          Promise.resolve({
            metadata: {
              namespace,
              name,
              ownerReferences: [{ uid: name.startsWith('house') ? 'house' : 'shed' }],
            },
          } as never),
        isOurs: () => true,
        labels: () => ({}),
      },
      cache: {
        get: <T>(_kind: string, namespace: string, name: string) =>
          name === 'house-delivery-1' ? ({ metadata: { namespace, name } } as T) : undefined,
        list: function* <T>() {
          yield* [house, aHub({ metadata: { name: 'shed', uid: 'shed' } }), lodger] as T[];
        },
      },
      cluster: {
        request: <T>({ method, path }: ApiRequest) => {
          if (method === 'PATCH') released.push(path);
          return Promise.resolve({ items: [] } as T);
        },
      },
    });
    const conflict = { claimProblem: { outcome: { reason: 'NameConflict' }, isChecked: true } };
    const dryRun = aHubContext(lodger, { dryRun: true });
    expect(await ensureStorage(given).run(dryRun)).toMatchObject(conflict);
    expect(released).toEqual([]);
    expect(await ensureStorage(given).run(aHubContext(lodger))).toMatchObject(conflict);
    expect(released).toEqual([
      '/api/v1/namespaces/home/persistentvolumeclaims/house-config',
      '/api/v1/namespaces/home/secrets/house-admin',
      '/api/v1/namespaces/home/configmaps/house-delivery-1',
    ]);
  });

  test.each<[string, Claim | undefined, readonly string[]]>([
    [
      'a claim is made',
      undefined,
      ['apply villa-delivery-0-', 'remove villa-delivery-0', 'apply villa-config'],
    ],
    [
      'a pod starts on another claim',
      claim(),
      ['apply villa-config', 'apply villa-delivery-0-', 'remove villa-delivery-0'],
    ],
  ])(
    'sets the definitions of the former volume aside before %s, and reports where they are',
    async (_, present, order) => {
      const annotations = { 'hub-operator.dev/volume': 'former' };
      const configMaps = new Map<string, ClusterObject>();
      const put = (name: string, content: object) =>
        configMaps.set(name, { metadata: { name, namespace: 'home', annotations }, ...content });
      const porch = { data: { 'automations.yaml': '[\n{"id": "porch"}\n]\n' } };
      put('villa-delivery-0', porch);
      const asked: string[] = [];
      const given = services({
        applier: {
          find: (({ kind }: ResourceType, _: string, name: string) =>
            Promise.resolve(kind === 'ConfigMap' ? configMaps.get(name) : present)) as never,
          apply: ((
            _: unknown,
            { metadata: { name }, ...content }: Manifest,
            { ownerReference }: ApplyOptions,
          ) => {
            asked.push(`apply ${name.replace(/[0-9a-f]{8}$/, '')}`);
            if (name.startsWith('villa-delivery')) {
              expect(ownerReference).toBe('never');
              put(name, content);
            }
            return Promise.resolve(claim());
          }) as never,
          remove: (_type: unknown, _owner: unknown, name: string) => {
            asked.push(`remove ${name}`);
            configMaps.delete(name);
            return Promise.resolve();
          },
          isOurs: () => true,
          labels: () => ({}),
        },
        cache: {
          get: ((kind: string, _: string, name: string) =>
            kind === 'ConfigMap' ? configMaps.get(name) : undefined) as never,
          list: ((kind: string) => (kind === 'ConfigMap' ? configMaps.values() : [])) as never,
        },
        cluster: { request: <T>() => Promise.resolve({ items: [] } as T) },
      });
      const dryRun = aHubContext(aHub(), { dryRun: true });
      await ensureStorage(given).run(dryRun);
      expect([...configMaps.keys()]).toEqual(['villa-delivery-0']);
      asked.length = 0;
      const context = aHubContext(aHub());
      await ensureStorage(given).run(context);
      expect(asked).toEqual(order);
      const [kept] = [...configMaps];
      expect(kept).toEqual([
        expect.stringMatching(/^villa-delivery-0-[0-9a-f]{8}$/),
        expect.objectContaining(porch),
      ]);
      expect(context.notices).toEqual([
        expect.stringContaining(`kept in ${kept![0]} (ConfigMaps) and not run`),
      ]);
    },
  );

  test('starts no pod on an existingClaim that does not exist', async () => {
    const { step } = rigid(undefined);
    const context = aHubContext(aHub({ spec: { storage: { existingClaim: 'attic' } } }));
    const message = 'The PersistentVolumeClaim attic of storage.existingClaim does not exist: create it.';
    expect(await step.run(context)).toMatchObject({
      claimProblem: { outcome: { type: 'Waiting', message }, isChecked: true },
    });
    expect(context.conditions['StorageReady']).toMatchObject({ status: 'False', message });
  });

  test('reports a claim without a volume as pending', async () => {
    const { step } = rigid(claim({ phase: 'Pending' }));
    const context = aHubContext();
    await step.run(context);
    expect(context.conditions['StorageReady']).toMatchObject({ status: 'False', reason: 'Pending' });
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

  test('reports nothing for a volume that is larger than the request of its claim', () => {
    const roomy = claim({ size: '5Gi', capacity: '10Gi' });
    expect(differences(roomy, storage({ size: '5Gi' }))).toEqual([]);
    expect(sizeOf(claimSpec(storage({ size: '5Gi' }), roomy))).toBe('5Gi');
    expect(sizeOf(claimSpec(storage({ size: '8Gi' }), roomy))).toBe('5Gi');
    expect(sizeOf(claimSpec(storage({ size: '12Gi' }), roomy))).toBe('12Gi');
    expect(differences(roomy, storage({ size: '4Gi' }))).toEqual([
      'villa-config has 10Gi, and a volume cannot shrink to 4Gi: set storage.size to 5Gi or more.',
    ]);
  });

  test('reports nothing for a claim with all properties', () => {
    expect(differences(claim(), storage())).toEqual([]);
    expect(differences(claim({ modes: ['ReadWriteMany', 'ReadWriteOnce'] }), storage())).toEqual([]);
    expect(differences(claim({ size: '100Ti', capacity: '5Gi' }), storage({ size: '8Gi' }))).toEqual([]);
  });
});
