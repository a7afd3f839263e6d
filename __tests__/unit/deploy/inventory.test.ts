import { dataOf, INSTALLED_KINDS, type Resource } from '../../../deploy/inventory';
import { NAMESPACE, OPERATOR } from '../../../manifests/names';
import { readManifests } from '../../../manifests/read-manifests';

const resource = (kind: string, name: string, spec: Resource['spec'], namespace = 'home'): Resource => ({
  apiVersion: 'hub-operator.dev/v1',
  kind,
  metadata: { name, namespace, uid: name },
  ...(spec && { spec }),
});
const claim = (name: string) => ({
  metadata: { name, namespace: 'home', ownerReferences: [{ uid: 'villa' }] },
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
    expect(dataOf(hub, [claim('villa-config'), claim('mine')], [])).toEqual({ hub, fate, text });
  });

  test('a claim without an owner is kept, like one that was retained before', () => {
    for (const ownerReferences of [[], [{ uid: 'another' }]]) {
      const metadata = { name: 'villa-config', namespace: 'home', ownerReferences };
      expect(
        dataOf(resource('Hub', 'villa', {}), [{ ...claim('villa-config'), metadata }], []),
      ).toMatchObject({
        fate: 'kept',
        text: 'the claim villa-config (8Gi) stays (the Hub does not own it)',
      });
    }
  });

  test('a claim in another namespace does not belong to the Hub', () => {
    const elsewhere = { ...claim('villa-config'), metadata: { name: 'villa-config', namespace: 'other' } };
    expect(dataOf(resource('Hub', 'villa', {}), [elsewhere], []).text).not.toContain('8Gi');
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

interface Installed {
  readonly kind: string;
  readonly metadata: { readonly namespace?: string; readonly labels?: object };
}

describe('INSTALLED_KINDS', () => {
  test('include those of all objects that are installed outside of the operator’s namespace', () => {
    const objects = [
      ...readManifests('dist/install.yaml'),
      ...readManifests('dist/watched-namespace/roles.yaml'),
    ];
    for (const { kind, metadata } of objects as Installed[]) {
      if (kind === 'CustomResourceDefinition' || metadata.namespace === NAMESPACE) continue;
      expect(INSTALLED_KINDS).toContain(kind);
      expect(metadata.labels).toMatchObject({ 'app.kubernetes.io/name': OPERATOR });
    }
  });
});
