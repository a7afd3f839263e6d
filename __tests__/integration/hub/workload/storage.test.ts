import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { StatefulSet } from '../../../../operator/sync/hub-pod/owned-objects';
import { freshNamespace, kubectl, mustKubectl, until } from '../../../cluster';
import { configuration, Home, type StoredCondition } from '../../../cluster/home';
import { idleHub, nowhere } from '../../../cluster/idle-hub';
import { startTestOperator, type TestOperator } from '../../../cluster/operator';

// The volume of a hub over the lifetimes of Hubs and claims.

let home: Home;
let operator: TestOperator;

beforeAll(async () => {
  home = new Home(await freshNamespace('storage'));
  operator = await startTestOperator(home.namespace);
});

const storageReady = (name: string, expected: Partial<StoredCondition>) =>
  until(`StorageReady of ${name} is ${JSON.stringify(expected)}`, async () => {
    const condition = await home.condition('hub', name, 'StorageReady');
    if (
      condition &&
      Object.entries(expected).every(([key, value]) => condition[key as keyof StoredCondition] === value)
    )
      return condition;
    throw new Error(JSON.stringify(condition));
  });
const claim = (name: string) => home.get('persistentvolumeclaim', name);
const sizeOf = async (name: string) => {
  const { spec, status } = await claim(name);
  const { requests } = spec['resources'] as { requests: { storage: string } };
  return [requests.storage, (status?.['capacity'] as { storage: string } | undefined)?.storage];
};
/** Returns the managers of a claim's fields, including those of writes that changed nothing. */
const writersOf = async (name: string) => {
  const args = ['get', 'pvc', name, '--show-managed-fields', '--output=json'];
  const { metadata } = JSON.parse(await mustKubectl(args, { namespace: home.namespace })) as {
    metadata: { managedFields: { manager: string }[] };
  };
  return metadata.managedFields.map(({ manager }) => manager);
};
const ownersOf = async (name: string) =>
  (await claim(name)).metadata.ownerReferences?.map((owner) => owner.name) ?? [];
/** Waits, because the garbage collector of a new cluster learns of our kinds within half a minute. */
const isGone = (kind: string, name: string) =>
  until(`${kind} ${name} is gone`, async () => !(await home.exists(kind, name)));
const aClaim = (name: string, spec: object = {}) => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '2Gi' } }, ...spec },
});

const WORDS = 'Claims of this namespace are changed by its administrators.';

/** Installs a policy that refuses changes of a claim. Resolves when it is in force. */
async function refuseChangesOf(name: string) {
  const { namespace } = home;
  const metadata = { name: `refuse-${name}.${namespace}` };
  const kinds = ['ValidatingAdmissionPolicy', 'ValidatingAdmissionPolicyBinding'] as const;
  const apiVersion = 'admissionregistration.k8s.io/v1';
  const rule = {
    apiGroups: [''],
    apiVersions: ['v1'],
    operations: ['UPDATE'],
    resources: ['persistentvolumeclaims'],
  };
  const matching = {
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
    resourceRules: [rule],
  };
  const items = [
    {
      apiVersion,
      kind: kinds[0],
      metadata,
      spec: {
        matchConstraints: matching,
        validations: [
          { expression: `object.metadata.name != '${name}'`, message: WORDS, reason: 'Forbidden' },
        ],
      },
    },
    {
      apiVersion,
      kind: kinds[1],
      metadata,
      spec: { policyName: metadata.name, validationActions: ['Deny'] },
    },
  ];
  const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
  await mustKubectl(['apply', '--server-side', '--filename=-'], { input });
  await until('the policy is in force', async () => {
    const args = ['annotate', 'pvc', name, 'a=b', '--dry-run=server'];
    return (await kubectl(args, { namespace })).stderr.includes(WORDS);
  });
  return { remove: () => mustKubectl(['delete', ...[kinds.join(','), metadata.name]]) };
}

/** Requests a reconcile. Idle hubs never run, so the request stays pending. */
const requestReconcile = (name: string) =>
  home.annotate('hub', name, 'hub-operator.dev/reconcile-requested-at=now');

describe('storage of a Hub', () => {
  test('a claim of its own, which is deleted with the Hub', async () => {
    await home.apply(idleHub('cottage', { storage: { size: '1Gi' } }), configuration('cottage'));
    await storageReady('cottage', { status: 'True', reason: 'Bound' });
    expect(await sizeOf('cottage-config')).toEqual(['1Gi', '1Gi']);
    expect(await ownersOf('cottage-config')).toEqual(['cottage']);
    await home.delete('hub', 'cottage');
    await isGone('persistentvolumeclaim', 'cottage-config');
    expect(await home.exists('hubconfiguration', 'cottage')).toBe(true);
  });

  test('retain can be set at any time and is not undone: a retained volume outlives each Hub, which reports it', async () => {
    await home.apply(idleHub('lodge', { storage: { size: '1Gi' } }), configuration('lodge'));
    await storageReady('lodge', { reason: 'Bound', status: 'True' });
    expect(await ownersOf('lodge-config')).toEqual(['lodge']);
    await home.change('hub', 'lodge', { storage: { retain: true } });
    await until('it has no owner', async () => (await ownersOf('lodge-config')).length === 0);
    const { uid } = (await claim('lodge-config')).metadata;
    await writeFile(join(await home.volumeOf('lodge'), 'kept.txt'), 'a year of history');
    await home.delete('hub', 'lodge');
    await isGone('statefulset', 'lodge');
    expect((await operator.events('Hub', 'lodge')).join()).not.toContain('ClaimKept');

    await home.apply(idleHub('lodge', { storage: { size: '1Gi', retain: false } }));
    await until('the new Hub uses it', () => home.exists('statefulset', 'lodge'));
    await storageReady('lodge', { reason: 'Bound', status: 'True' });
    expect(await readFile(join(await home.volumeOf('lodge'), 'kept.txt'), 'utf8')).toBe('a year of history');
    await home.delete('hub', 'lodge');
    await isGone('statefulset', 'lodge');
    expect((await operator.events('Hub', 'lodge')).join()).toContain(
      `ClaimKept: The volume stays although storage.retain is false, because it was retained before: no claim gets an owner again. To delete it with all data of the hub: kubectl -n ${home.namespace} delete persistentvolumeclaim/lodge-config`,
    );
    const { metadata } = await claim('lodge-config');
    expect(metadata).toMatchObject({ uid });
    expect(metadata).not.toHaveProperty('deletionTimestamp');
  });

  test('a larger size expands the volume; a smaller one is refused in a condition and changes nothing', async () => {
    await home.apply(idleHub('barn', { storage: { size: '1Gi' } }), configuration('barn'));
    await storageReady('barn', { reason: 'Bound', status: 'True' });
    await home.change('hub', 'barn', { storage: { size: '3Gi' } });
    await storageReady('barn', { reason: 'Bound', status: 'True', message: 'barn-config is bound (3Gi).' });
    expect(await sizeOf('barn-config')).toEqual(['3Gi', '3Gi']);

    await home.change('hub', 'barn', { storage: { size: '2Gi' }, timezone: 'Europe/Rome' });
    const { message } = await storageReady('barn', { reason: 'Mismatch', status: 'False' });
    expect(message).toBe(
      'barn-config has 3Gi, and a volume cannot shrink to 2Gi: set storage.size to 3Gi or more.',
    );
    expect(await sizeOf('barn-config')).toEqual(['3Gi', '3Gi']);
    // Other changes are made nevertheless.
    await until('the other change is made', async () =>
      JSON.stringify((await home.get('statefulset', 'barn')).spec).includes('Europe/Rome'),
    );
    await home.change('hub', 'barn', { storage: { size: '3072Mi' } });
    await storageReady('barn', { reason: 'Bound', status: 'True' });
  });

  test('an expansion is Expanding until the volume has grown, and reports when the class cannot expand', async () => {
    const classOf = (name: string, allowVolumeExpansion: boolean) => ({
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: { name: `${home.namespace}-${name}` },
      provisioner: 'example.org/absent',
      allowVolumeExpansion,
    });
    const volumeOf = (name: string) => ({
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: `${home.namespace}-${name}` },
      spec: {
        accessModes: ['ReadWriteOnce'],
        capacity: { storage: '1Gi' },
        hostPath: { path: '/nowhere' },
        storageClassName: `${home.namespace}-${name}`,
        claimRef: { namespace: home.namespace, name: `${name}-config` },
      },
    });
    await home.apply(classOf('slow', true), classOf('rigid', false), volumeOf('slow'), volumeOf('rigid'));
    for (const name of ['slow', 'rigid']) {
      await home.apply(
        idleHub(name, { storage: { size: '1Gi', storageClassName: `${home.namespace}-${name}` } }),
        configuration(name),
      );
    }
    for (const name of ['slow', 'rigid']) {
      await storageReady(name, { reason: 'Bound', status: 'True' });
      await home.change('hub', name, { storage: { size: '2Gi' } });
    }
    expect((await storageReady('slow', { reason: 'Expanding', status: 'False' })).message).toMatch(
      /^slow-config grows from 1Gi to 2Gi\./,
    );
    expect((await storageReady('rigid', { reason: 'Mismatch', status: 'False' })).message).toMatch(
      /storageclass that provisions the pvc must support resize/,
    );
    // Sets the condition that the volume driver would set.
    await mustKubectl(
      [
        'patch',
        'pvc',
        'slow-config',
        '--subresource=status',
        '--type=merge',
        '--patch={"status":{"capacity":{"storage":"2Gi"}}}',
      ],
      {
        namespace: home.namespace,
      },
    );
    await storageReady('slow', { reason: 'Bound', status: 'True' });
    // A refused expansion does not prevent other changes.
    await home.change('hub', 'rigid', { storage: { retain: true } });
    await until('it has no owner', async () => (await ownersOf('rigid-config')).length === 0);
    await storageReady('rigid', { reason: 'Mismatch', status: 'False' });
    // The failed expansion is taken back.
    await home.change('hub', 'rigid', { storage: { size: '1Gi' } });
    await storageReady('rigid', { reason: 'Bound', status: 'True' });
    await mustKubectl(['delete', 'storageclass', `${home.namespace}-slow`, `${home.namespace}-rigid`]);
    await mustKubectl(['delete', 'pv', '--wait=false', `${home.namespace}-slow`, `${home.namespace}-rigid`]);
  });

  test('an existing claim of that name is used unchanged, and its differences are reported', async () => {
    await home.apply(aClaim('hut-config', { accessModes: ['ReadWriteMany'] }));
    await until('it is bound', async () => (await claim('hut-config')).status?.['phase'] === 'Bound');
    const { spec } = await claim('hut-config');
    await home.apply(
      idleHub('hut', { storage: { size: '1Gi', storageClassName: 'fast' } }),
      configuration('hut'),
    );
    const { message } = await storageReady('hut', { reason: 'Mismatch', status: 'False' });
    expect(message).toMatch(/storage class "sandbox", not "fast"/);
    expect(message).toMatch(/access modes ReadWriteMany, not ReadWriteOnce/);
    expect(message).toMatch(/has 2Gi, and a volume cannot shrink to 1Gi/);
    await home.ready('hub', 'hut', { status: 'False', reason: 'PodNotReady' });
    await home.delete('hub', 'hut');
    await isGone('statefulset', 'hut');
    const after = await claim('hut-config');
    expect(after.spec).toEqual(spec);
    expect(after.metadata).not.toHaveProperty('ownerReferences');
    expect((await writersOf('hut-config')).join()).not.toContain('hub-operator');
  });

  test('existingClaim: a missing one is named, and used when it appears; it is never changed', async () => {
    await home.apply(idleHub('shed', { storage: { existingClaim: 'attic' } }));
    const message = 'The PersistentVolumeClaim attic of storage.existingClaim does not exist: create it.';
    // The missing claim is reported even before the HubConfiguration exists.
    await home.ready('hub', 'shed', { status: 'False', reason: 'PodNotReady', message });
    await storageReady('shed', { reason: 'Mismatch', status: 'False', message });
    await home.apply(configuration('shed'));
    await home.ready('hubconfiguration', 'shed', { status: 'False' });
    await requestReconcile('shed');
    await home.ready('hub', 'shed', { status: 'False', reason: 'PodNotReady', message });
    expect(await home.exists('statefulset', 'shed')).toBe(false);
    await home.apply(aClaim('attic'));
    await until('it is bound', async () => (await claim('attic')).status?.['phase'] === 'Bound');
    const { spec } = await claim('attic');
    await requestReconcile('shed');
    await storageReady('shed', { reason: 'Bound', status: 'True' });
    await until('the pod asks for it', async () =>
      JSON.stringify((await home.get('statefulset', 'shed')).spec).includes('"claimName":"attic"'),
    );
    expect(await home.exists('persistentvolumeclaim', 'shed-config')).toBe(false);
    await home.delete('hub', 'shed');
    await isGone('statefulset', 'shed');
    const after = await claim('attic');
    expect(after.spec).toEqual(spec);
    expect(after.metadata).not.toHaveProperty('ownerReferences');
    expect(after.metadata).not.toHaveProperty('deletionTimestamp');
    expect((await writersOf('attic')).join()).not.toContain('hub-operator');
  });

  test('retain that was set while the Hub was suspended applies to its deletion', async () => {
    await home.apply(idleHub('loft', { storage: { size: '1Gi' } }), configuration('loft'));
    await storageReady('loft', { reason: 'Bound', status: 'True' });
    expect(await ownersOf('loft-config')).toEqual(['loft']);
    await home.change('hub', 'loft', { suspend: true });
    await home.change('hub', 'loft', { storage: { retain: true } });
    await until('it is suspended', () => home.condition('hub', 'loft', 'Suspended'));
    expect(await ownersOf('loft-config')).toEqual(['loft']);
    await home.delete('hub', 'loft');
    await isGone('statefulset', 'loft');
    expect((await claim('loft-config')).metadata).not.toHaveProperty('deletionTimestamp');
    expect(await ownersOf('loft-config')).toEqual([]);
  });

  test('a claim serves one Hub: a second one reports that, gets no pod, and gets the claim when the first one is deleted as the message says', async () => {
    await home.apply(idleHub('house', { storage: { size: '1Gi' } }), configuration('house'));
    await storageReady('house', { reason: 'Bound', status: 'True' });
    await home.apply(
      idleHub('lodger', { storage: { existingClaim: 'house-config' } }),
      configuration('lodger'),
    );
    const { message } = await home.ready('hub', 'lodger', { status: 'False', reason: 'NameConflict' });
    expect(message).toContain('The PersistentVolumeClaim house-config serves the Hub house');
    expect(await home.exists('statefulset', 'lodger')).toBe(false);
    // A foreground deletion deletes owned objects before finalizers run.
    expect(await ownersOf('house-config')).toEqual([]);
    const { uid } = (await claim('house-config')).metadata;
    await mustKubectl(['delete', 'hub', 'house', '--cascade=foreground'], { namespace: home.namespace });
    await isGone('statefulset', 'house');
    await until('it has a StatefulSet', () => home.exists('statefulset', 'lodger'));
    const { metadata } = await claim('house-config');
    expect(metadata).toMatchObject({ uid });
    expect(metadata).not.toHaveProperty('ownerReferences');
    expect(metadata).not.toHaveProperty('deletionTimestamp');
    await storageReady('lodger', { reason: 'Bound', status: 'True' });
  });

  test('a claim whose owner cannot be changed because of a policy is not mounted, and the Hub does not report it as its own', async () => {
    const own = { storage: { size: '1Gi' } };
    await home.apply(
      idleHub('manor', own),
      configuration('manor'),
      idleHub('guest', own),
      configuration('guest'),
    );
    await storageReady('manor', { reason: 'Bound', status: 'True' });
    const mounted = async () => {
      const { spec } = await home.get('statefulset', 'guest');
      const { volumes } = (spec as unknown as StatefulSet['spec']).template.spec!;
      return volumes!.flatMap(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName ?? []);
    };
    await until('it has a StatefulSet', () => home.exists('statefulset', 'guest'));
    const policy = await refuseChangesOf('manor-config');
    try {
      await home.change('hub', 'guest', { storage: { existingClaim: 'manor-config' } });
      const { message } = await home.ready('hub', 'guest', { status: 'False', reason: 'Forbidden' });
      expect(message).toContain(WORDS);
      await until('its pod is kept', async () => {
        const { status } = await home.get('hub', 'guest');
        return status?.['restartHeld'] === 'Forbidden';
      });
      expect(await mounted()).toEqual(['guest-config']);
      await storageReady('guest', { reason: 'NotChecked', status: 'Unknown' });
    } finally {
      await policy.remove();
    }
    await requestReconcile('guest');
    await home.ready('hub', 'guest', { status: 'False', reason: 'NameConflict' });
    expect(await mounted()).toEqual(['guest-config']);
    expect(await ownersOf('manor-config')).toEqual([]);
  });

  test('existingClaim that a pod of another installation still uses: its pod is named, and nothing is created', async () => {
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      // The labels of a pod of another chart, whose release has the name of the Hub.
      metadata: { name: 'old-home-0', labels: { 'app.kubernetes.io/instance': 'annex' } },
      spec: {
        ...nowhere().spec,
        containers: [{ name: 'home-assistant', image: 'ghcr.io/home-assistant/home-assistant:stable' }],
        volumes: [{ name: 'config', persistentVolumeClaim: { claimName: 'moved' } }],
      },
    };
    await home.apply(aClaim('moved'), pod);
    await home.apply(idleHub('annex', { storage: { existingClaim: 'moved' } }), configuration('annex'));
    const { message } = await home.ready('hub', 'annex', { status: 'False', reason: 'NameConflict' });
    expect(message).toContain('The pod old-home-0 uses the PersistentVolumeClaim moved');
    await storageReady('annex', { status: 'False', reason: 'Mismatch', message });
    await requestReconcile('annex');
    expect(await home.exists('statefulset', 'annex')).toBe(false);
    await home.delete('pod', 'old-home-0');
    await until('it has a StatefulSet', () => home.exists('statefulset', 'annex'));
  });

  test('existingClaim may name the claim that the Hub has made, which then outlives the Hub', async () => {
    await home.apply(idleHub('cabin', { storage: { size: '1Gi' } }), configuration('cabin'));
    await storageReady('cabin', { reason: 'Bound', status: 'True' });
    expect(await ownersOf('cabin-config')).toEqual(['cabin']);
    await home.change('hub', 'cabin', { storage: { existingClaim: 'cabin-config' } });
    await until('it has no owner', async () => (await ownersOf('cabin-config')).length === 0);
    await home.delete('hub', 'cabin');
    await isGone('statefulset', 'cabin');
    expect((await claim('cabin-config')).metadata).not.toHaveProperty('deletionTimestamp');
  });

  test('class and modes cannot be changed', async () => {
    await expect(home.change('hub', 'barn', { storage: { storageClassName: 'other' } })).rejects.toThrow(
      /storageClassName cannot be changed/,
    );
    await expect(home.change('hub', 'barn', { storage: { accessModes: ['ReadWriteMany'] } })).rejects.toThrow(
      /accessModes cannot be changed/,
    );
  });
});
