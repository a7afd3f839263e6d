import { boundResources } from '../../manifests/admission-policy';
import { NAMESPACE, OPERATOR } from '../../manifests/names';
import { readManifests } from '../../manifests/read-manifests';
import { API_GROUP } from '../../operator/kinds/group';
import { freshNamespace, kubectl, mustKubectl, until } from '../cluster';
import {
  ACCOUNT,
  allowed,
  claim,
  configMap,
  container,
  hubPod,
  type Manifest,
  ours,
  pod,
  podOf,
  refused,
  requestsIn,
  secret,
  set,
  without,
  withoutTask,
} from './operator-account';

/**
 * The admission policy of `dist/` in a real API server, with requests that an attacker with the operator's
 * token would send.
 */

const NO_TOKEN = 'gives the pod of a hub no token and no certificate of a ServiceAccount';
const NOT_OF_NODE = 'gives a pod more than the level baseline of Pod Security only in a namespace with';
const [hubContainer] = hubPod.containers;
const ofNode = {
  processes: { hostPID: true },
  memory: { hostIPC: true },
  'a folder': { volumes: [...hubPod.volumes, { name: 'bus', hostPath: { path: '/run/dbus' } }] },
  'all devices': { containers: [{ ...hubContainer, securityContext: { privileged: true } }] },
  'all devices, before its start,': {
    initContainers: [
      ...hubPod.initContainers,
      { ...container, name: 'x', securityContext: { privileged: true } },
    ],
  },
  rights: {
    containers: [{ ...hubContainer, securityContext: { capabilities: { add: ['SYS_ADMIN'] } } }],
  },
};

let namespace: string;
const { create, patch, remove } = requestsIn(() => namespace);

beforeAll(async () => {
  namespace = await freshNamespace('policy');
  const stored = [
    // Objects of a user.
    { ...configMap, metadata: { name: 'settings' } },
    { ...secret, metadata: { name: 'password' } },
    { ...claim, metadata: { name: 'photos' } },
    { ...pod(), metadata: { name: 'database-0' }, spec: { containers: [container] } },
    // Objects of the operator. The owner reference is left out, since the garbage collector would look for
    // the owner.
    { ...without(configMap, 'ownerReferences'), metadata: { ...claim.metadata, name: 'ours' } },
    { ...claim, metadata: { ...claim.metadata, name: 'volume' } },
    { ...pod(), metadata: { ...claim.metadata, name: 'my-home-0' }, spec: { containers: [container] } },
    {
      apiVersion: `${API_GROUP}/v1`,
      kind: 'HubFloor',
      metadata: { name: 'ground' },
      spec: { hubRef: { name: 'my-home' }, name: 'Ground' },
    },
  ];
  const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: stored });
  await mustKubectl(['create', '-f', '-'], { namespace, input });
  // The API server loads the policy by a watch.
  await until('the policy is in force', async () => (await create(pod({ hostNetwork: true }))).code === 1);
});

test('everything that the operator may write is bound, except events, its lease and status', () => {
  const resources = boundResources().flatMap(({ apiGroups, resources: names }) =>
    names.map((name) => `${apiGroups[0]}/${name}`),
  );
  expect(resources).toContain('/pods');
  expect(resources).toContain('apps/statefulsets');
  expect(resources).toContain('cert-manager.io/certificates');
  expect(resources.filter((name) => name.startsWith(API_GROUP)).length).toBeGreaterThan(10);
});

test('the API server finds no fault in the expressions', async () => {
  const policy = JSON.parse(
    await mustKubectl(['get', 'validatingadmissionpolicy', OPERATOR, '-o', 'json']),
  ) as { status?: { typeChecking?: { expressionWarnings?: unknown } } };
  expect(policy.status?.typeChecking?.expressionWarnings).toBeUndefined();
});

describe('the account of the operator creates', () => {
  test.each([
    ['a ConfigMap of a resource', configMap],
    ['a Secret', secret],
    ['a claim that outlives its Hub', claim],
    [
      'the login of a Hub that outlives it',
      {
        ...secret,
        metadata: { name: 'my-home-admin', labels: ours('Hub', 'my-home').labels },
      } satisfies Manifest,
    ],
    [
      'delivered definitions that outlive their Hub',
      {
        ...configMap,
        metadata: { name: 'my-home-delivery-3', labels: ours('Hub', 'my-home').labels },
      } satisfies Manifest,
    ],
    ['the pod of a community repository', pod()],
    ['the StatefulSet of a Hub', set()],
    [
      'the StatefulSet of a Hub that asks for more',
      set(
        podOf({
          serviceAccountName: 'hub',
          hostNetwork: true,
          containers: [
            { ...hubContainer, securityContext: { capabilities: { add: ['NET_RAW'] } } },
            { name: 'sidecar', image: 'sidecar' },
          ],
        }),
      ),
    ],
  ])('%s', async (_, manifest) => {
    expect(await create(manifest)).toMatchObject(allowed);
  });

  test.each(Object.entries(ofNode))(
    'a hub with %s of the node where the namespace says so',
    async (_, spec) => {
      const where = await freshNamespace('of-node');
      await mustKubectl(['label', 'namespace', where, 'pod-security.kubernetes.io/enforce=privileged']);
      // The API server learns of the label through a watch.
      await until('it may', async () => (await create(set(podOf(spec)), where)).code === 0);
    },
  );

  const belong = 'creates only objects that have the label';
  test.each<[string, Manifest, string]>([
    ['a ConfigMap without the mark', without(configMap, 'labels'), belong],
    ['a ConfigMap of nothing', without(configMap, 'ownerReferences'), belong],
    [
      'a ConfigMap of nothing with the name of another Hub’s definitions',
      {
        ...configMap,
        metadata: { name: 'my-home-delivery-3', labels: ours('Hub', 'other').labels },
      },
      belong,
    ],
    ['a Secret of nothing', without(secret, 'ownerReferences'), belong],
    [
      'a Secret of something else',
      {
        ...secret,
        metadata: {
          ...secret.metadata,
          ownerReferences: [
            { apiVersion: 'apps/v1', kind: 'Deployment', name: 'a', uid: 'b', controller: true },
          ],
        },
      },
      belong,
    ],
    [
      'a token of a ServiceAccount',
      {
        ...secret,
        type: 'kubernetes.io/service-account-token',
        metadata: { ...secret.metadata, annotations: { 'kubernetes.io/service-account.name': 'default' } },
      },
      'writes only Secrets of the type Opaque',
    ],
    ['a pod that stays', pod({ restartPolicy: 'Always' }), 'creates only pods that install'],
    ['a pod with a token', pod({ automountServiceAccountToken: true }), 'creates only pods that install'],
    ['a pod without a task', withoutTask, 'creates only pods that install'],
    ...['hostNetwork', 'hostPID', 'hostIPC'].map((field): [string, Manifest, string] => [
      `a pod with ${field}`,
      pod({ [field]: true }),
      'creates only pods that install',
    ]),
    [
      'a pod with another program',
      pod({ containers: [{ ...container, command: ['sh', '-c', ''] }] }),
      'creates only pods that install',
    ],
    [
      'a pod with a container of another name',
      pod({ containers: [{ ...container, name: 'miner' }] }),
      'creates only pods that install',
    ],
    [
      'a pod with another container',
      pod({ containers: [container, { ...container, name: 'second' }] }),
      'creates only pods that install',
    ],
    [
      'a pod with init containers',
      pod({ initContainers: [{ ...container, name: 'first' }] }),
      'creates only pods that install',
    ],
    [
      'a privileged pod',
      pod({ containers: [{ ...container, securityContext: { privileged: true } }] }),
      'creates only pods that install',
    ],
    [
      'a pod with a folder of the node',
      pod({ volumes: [{ name: 'config', hostPath: { path: '/' } }] }),
      'creates only pods that install',
    ],
    [
      'a pod with a projected token',
      pod({ volumes: [{ name: 'x', projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } }] }),
      'creates only pods that install',
    ],
    [
      'a StatefulSet with claims of its own',
      set({ volumeClaimTemplates: [{ ...claim, metadata: { name: 'data' } }] }),
      'creates only StatefulSets of one replica',
    ],
    ['a StatefulSet of two replicas', set({ replicas: 2 }), 'creates only StatefulSets of one replica'],
    [
      'a StatefulSet of another kind',
      set({}, ours('HubFloor', 'my-home')),
      'creates only StatefulSets of one replica',
    ],
    [
      'a StatefulSet with another name than its Hub',
      set({}, ours('Hub', 'other')),
      'creates only StatefulSets of one replica',
    ],
    ...(
      [
        ['a hub', { containers: [{ name: 'miner', image: 'miner' }] }],
        ['its init containers', { initContainers: [] }],
        ['one of them', { initContainers: hubPod.initContainers.slice(1) }],
        [
          'their program',
          { initContainers: hubPod.initContainers.map((each) => ({ ...each, command: ['sh'] })) },
        ],
        ['its claim', { volumes: [] }],
      ] as const
    ).map(([what, spec]): [string, Manifest, string] => [
      `a StatefulSet without ${what}`,
      set(podOf(spec)),
      'creates only StatefulSets of one replica',
    ]),
    ['a hub with a token', set(podOf({ automountServiceAccountToken: true })), NO_TOKEN],
    ['a hub with a token by default', set(podOf({ automountServiceAccountToken: undefined })), NO_TOKEN],
    [
      'a hub with a projected token',
      set(
        podOf({
          volumes: [
            ...hubPod.volumes,
            { name: 'x', projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } },
          ],
        }),
      ),
      NO_TOKEN,
    ],
    ...Object.entries(ofNode).map(([what, spec]): [string, Manifest, string] => [
      `a hub with ${what} of the node`,
      set(podOf(spec)),
      NOT_OF_NODE,
    ]),
  ])('not: %s', async (_, manifest, words) => {
    expect(await create(manifest)).toMatchObject(refused(words));
  });

  test.each([configMap, secret, pod(), set()])('not in kube-system: %j', async (manifest) => {
    expect(await create(manifest, 'kube-system')).toMatchObject(
      refused('writes nothing in namespaces of Kubernetes'),
    );
  });
});

describe('its certificate', () => {
  const certificate = (labels: object): Manifest => ({
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'kubernetes.io/tls',
    metadata: { name: 'certificate', labels },
    data: { 'tls.crt': '', 'tls.key': '' },
  });
  const own = certificate({ 'app.kubernetes.io/name': OPERATOR });

  test('is written in its own namespace', async () => {
    // The API server warns that the Secret contains no certificate.
    expect(await create(own, NAMESPACE)).toMatchObject({ code: 0 });
  });

  test('and nowhere else, nor without its label', async () => {
    expect(await create(own)).toMatchObject(refused('creates only objects'));
    expect(await create(certificate({}), NAMESPACE)).toMatchObject(refused('creates only objects'));
  });
});

describe('the account of the operator changes', () => {
  const annotation = { metadata: { annotations: { 'example.org/a': 'b' } } };

  test('its own objects', async () => {
    expect(await patch(['configmap', 'ours'], { data: { a: 'b' } })).toMatchObject(
      refused('creates only objects'), // the object has no owner any more
    );
    expect(
      await patch(['configmap', 'ours'], {
        data: { a: 'b' },
        metadata: { ownerReferences: ours('Hub', 'my-home').ownerReferences },
      }),
    ).toMatchObject(allowed);
    expect(await patch(['pod', 'my-home-0'], annotation)).toMatchObject(allowed);
    expect(await remove('pod', 'my-home-0')).toMatchObject(allowed);
    expect(await remove('configmap', 'ours')).toMatchObject(allowed);
  });

  test.each([
    ['configmap', 'settings'],
    ['secret', 'password'],
    ['pod', 'database-0'],
    ['pvc', 'photos'],
  ])('not: the %s of a person, also not by marking it', async (kind, name) => {
    const words = refused('changes and deletes only objects that it has created');
    expect(await patch([kind, name], annotation)).toMatchObject(words);
    const { labels, ownerReferences } = ours('Hub', 'my-home');
    expect(await patch([kind, name], { metadata: { labels, ownerReferences } })).toMatchObject(words);
    expect(await remove(kind, name)).toMatchObject(words);
  });

  test('the claim of a person by the version that ran on it, and nothing else', async () => {
    const version = { [`${API_GROUP}/ran-version`]: '2026.11.0' };
    expect(await patch(['pvc', 'photos'], { metadata: { annotations: version } })).toMatchObject(allowed);
    for (const more of [
      { labels: { a: 'b' } },
      { finalizers: ['example.org/a'] },
      { ownerReferences: ours('Hub', 'my-home').ownerReferences },
      { annotations: { ...version, 'example.org/a': 'b' } },
    ])
      expect(await patch(['pvc', 'photos'], { metadata: { annotations: version, ...more } })).toMatchObject(
        refused('changes and deletes only objects'),
      );
    expect(
      await patch(['pvc', 'photos'], { spec: { resources: { requests: { storage: '2Gi' } } } }),
    ).toMatchObject({ code: 1 });
  });

  test('no image and no label of a pod', async () => {
    const { spec } = JSON.parse(
      await mustKubectl(['get', 'pod', 'my-home-0', '-o', 'json'], { namespace }),
    ) as { spec: { containers: object[] } };
    const containers = [{ ...spec.containers[0], image: 'evil' }];
    expect(await patch(['pod', 'my-home-0'], { metadata: { labels: { a: 'b' } } })).toMatchObject(
      refused('changes only annotations of pods'),
    );
    expect(await patch(['pod', 'my-home-0'], { spec: { containers } })).toMatchObject(
      refused('changes only annotations of pods'),
    );
  });

  test('no spec and no annotation of its resources, only their finalizers', async () => {
    const words = refused('changes no spec');
    expect(await patch(['hubfloor', 'ground'], { spec: { name: 'Cellar' } })).toMatchObject(words);
    expect(await patch(['hubfloor', 'ground'], annotation)).toMatchObject(words);
    const finalizers = [`${API_GROUP}/hubfloor`];
    expect(await patch(['hubfloor', 'ground'], { metadata: { finalizers } })).toMatchObject(allowed);
  });

  test('no claim is deleted', async () => {
    expect(await remove('pvc', 'volume')).toMatchObject(refused('deletes no claims and no logins'));
  });
});

describe('an operator that has only the roles of dist/watched-namespace', () => {
  test('is bound in that namespace, also where it is installed under another name', async () => {
    const watched = await freshNamespace('watched');
    const account = { name: `home-${OPERATOR}`, namespace: await freshNamespace('installed') };
    const roles = (readManifests('dist/watched-namespace/roles.yaml') as Manifest[]).map((manifest) =>
      manifest.kind === 'RoleBinding'
        ? { ...manifest, subjects: [{ kind: 'ServiceAccount', ...account }] }
        : manifest,
    );
    const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: roles });
    await mustKubectl(['create', '-f', '-'], { namespace: watched, input });
    const as = `--as=system:serviceaccount:${account.namespace}:${account.name}`;
    const made = (manifest: Manifest) =>
      kubectl(['create', '--dry-run=server', '-f', '-', as], {
        namespace: watched,
        input: JSON.stringify(manifest),
      });
    await until('the role is known', async () => (await made(configMap)).code === 0);
    expect(await made(without(configMap, 'ownerReferences'))).toMatchObject(refused('creates only objects'));
    expect(await made(pod({ hostNetwork: true }))).toMatchObject(refused('creates only pods that install'));
  });
});

describe('others', () => {
  test.each([
    ['administrators', []],
    ['a controller of the same name without the rights of the operator', [`--as=${ACCOUNT}`]],
  ])('are not bound: %s', async (_, as) => {
    const where = await freshNamespace('others');
    const account = as.length > 0 ? [`--as=system:serviceaccount:${where}:${OPERATOR}`] : [];
    await mustKubectl(
      ['create', 'rolebinding', 'edit', '--clusterrole=edit', `--serviceaccount=${where}:x`],
      {
        namespace: where,
      },
    );
    await mustKubectl(['create', 'role', 'own', '--verb=create', '--resource=configmaps'], {
      namespace: where,
    });
    await mustKubectl(
      ['create', 'rolebinding', 'own', '--role=own', `--serviceaccount=${where}:${OPERATOR}`],
      { namespace: where },
    );
    const input = JSON.stringify(without(configMap, 'labels', 'ownerReferences'));
    const made = () =>
      kubectl(['create', '--dry-run=server', '-f', '-', ...account], { namespace: where, input });
    await until('the role is known', async () => !(await made()).stderr.includes('cannot create resource'));
    expect(await made()).toMatchObject(allowed);
  });
});
