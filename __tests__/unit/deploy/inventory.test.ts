import {
  childrenOf,
  dataOf,
  listOwnedObjects,
  type OwnedObject,
  type Resource,
} from '../../../deploy/inventory';

const resource = (kind: string, name: string, spec: Resource['spec'], namespace = 'home'): Resource => ({
  apiVersion: 'hub-operator.dev/v1',
  kind,
  metadata: { name, namespace, uid: name },
  ...(spec && { spec }),
});
const claim = (name: string) => ({
  metadata: { name, namespace: 'home' },
  spec: { volumeName: `volume-of-${name}` },
  status: { capacity: { storage: '8Gi' } },
});

describe('dataOf', () => {
  const cases: readonly [string, Resource['spec'], string, string][] = [
    [
      'its volume is deleted',
      {},
      'gone',
      'the claim villa-config (8Gi) is DELETED, with all data of the hub',
    ],
    [
      'it is retained',
      { storage: { retain: true } },
      'kept',
      'the claim villa-config (8Gi) stays (storage.retain)',
    ],
    [
      'it uses a claim of its owner',
      { storage: { existingClaim: 'mine' } },
      'kept',
      'the claim mine (8Gi) stays (storage.existingClaim)',
    ],
    [
      'it runs elsewhere',
      { external: { url: 'http://192.168.1.10:8123' } },
      'elsewhere',
      'runs outside of the cluster and goes on running',
    ],
  ];

  test.each(cases)('of a Hub: %s', (_, spec, fate, text) => {
    const hub = resource('Hub', 'villa', spec);
    expect(dataOf(hub, [claim('villa-config'), claim('mine')])).toEqual({ hub, fate, text });
  });

  test('a claim of another namespace is not its own', () => {
    const elsewhere = { ...claim('villa-config'), metadata: { name: 'villa-config', namespace: 'other' } };
    expect(dataOf(resource('Hub', 'villa', {}), [elsewhere]).text).not.toContain('8Gi');
  });

  test('a volume that is not deleted with its claim is named', () => {
    const volume = {
      metadata: { name: 'volume-of-villa-config' },
      spec: { persistentVolumeReclaimPolicy: 'Retain' },
    };
    expect(dataOf(resource('Hub', 'villa', {}), [claim('villa-config')], [volume]).text).toBe(
      'the claim villa-config (8Gi) is DELETED; its volume volume-of-villa-config stays (reclaim policy Retain)',
    );
  });
});

describe('childrenOf', () => {
  test('are those that name the Hub, in its namespace', () => {
    const hub = resource('Hub', 'villa', {});
    const child = resource('HubScene', 'a', { hubRef: { name: 'villa' } });
    const others = [
      resource('HubScene', 'b', { hubRef: { name: 'flat' } }),
      resource('HubScene', 'c', { hubRef: { name: 'villa' } }, 'other'),
    ];
    expect(childrenOf([hub, child, ...others], [dataOf(hub)])).toEqual([child]);
  });
});

describe('listOwnedObjects', () => {
  const owned = (name: string, owners: readonly string[], deletionTimestamp?: string): OwnedObject => ({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      name,
      namespace: 'home',
      ...(owners.length > 0 && { ownerReferences: owners.map((apiVersion) => ({ apiVersion })) }),
      ...(deletionTimestamp !== undefined && { deletionTimestamp }),
    },
  });
  const HUB = 'hub-operator.dev/v1';

  test('has what only resources of ours own: no retained volume, and nothing that is being deleted', async () => {
    const all = [
      owned('of-a-hub', [HUB]),
      owned('of-two', [HUB, HUB]),
      owned('retained', []),
      owned('of-another-controller-too', [HUB, 'apps/v1']),
      owned('going', [HUB], '2026-01-01T00:00:00Z'),
    ];
    const asked: string[] = [];
    const kubectl = {
      list: <T>(args: readonly string[]) => {
        asked.push(...args);
        return Promise.resolve(all as readonly object[] as readonly T[]);
      },
    };
    const found = await listOwnedObjects(kubectl);
    expect(found.map(({ metadata }) => metadata.name)).toEqual(['of-a-hub', 'of-two']);
    expect(asked).toContain('--selector=app.kubernetes.io/managed-by=hub-operator');
  });
});
