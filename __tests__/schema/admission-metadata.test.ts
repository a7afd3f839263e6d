import { API_GROUP } from '../../operator/kinds/group';
import { API_TOKEN_LABELS } from '../../operator/kinds/object-names';
import { freshNamespace, mustKubectl, until } from '../cluster';
import {
  allowed,
  claim,
  configMap,
  type Manifest,
  ours,
  pod,
  refused,
  requestsIn,
  secret,
} from './operator-account';

/** Metadata by which other programs delete an object: the garbage collector, GitOps tools, clean-up tools. */

let namespace: string;
const { create, patch, remove } = requestsIn(() => namespace);

const owner = (apiVersion: string, kind: string, name = 'nothing') => ({
  ownerReferences: [{ apiVersion, kind, name, uid: '00000000-0000-4000-8000-000000000001' }],
});
const named = (manifest: Manifest, name: string, fields: object = {}): Manifest => ({
  ...manifest,
  metadata: { ...manifest.metadata, name, ...fields },
});
const { labels, ownerReferences } = ours('Hub', 'my-home');
/** Objects that outlive a Hub with storage.retain, as the operator made them for a Hub without it. */
const survivors: readonly (readonly [string, Manifest])[] = [
  ['pvc/my-home-config', claim],
  ['secret/my-home-admin', { ...named(secret, 'my-home-admin'), data: { password: 'MQ==' } }],
  ['configmap/my-home-delivery-0', named(configMap, 'my-home-delivery-0')],
];
const asName = (what: string) => what.split('/');

/** The uid of an existing Hub, because the garbage collector deletes an object whose owner does not exist. */
let hubUID: string;
const ofHub = () => [{ ...ownerReferences[0], uid: hubUID }];
const asToken = () => ({ labels: { ...labels, ...API_TOKEN_LABELS }, ownerReferences: ofHub() });

beforeAll(async () => {
  namespace = await freshNamespace('metadata');
  const hub = {
    apiVersion: `${API_GROUP}/v1`,
    kind: 'Hub',
    metadata: { name: 'my-home', labels: { team: 'a' } },
    spec: {},
  };
  const store = async (items: readonly object[]) =>
    mustKubectl(['create', '-f', '-'], {
      namespace,
      input: JSON.stringify({ apiVersion: 'v1', kind: 'List', items }),
    });
  await store([hub]);
  hubUID = await mustKubectl(['get', 'hub', 'my-home', '-o', 'jsonpath={.metadata.uid}'], { namespace });
  const marked = (hub: string) => ({
    labels: { ...ours('Hub', hub).labels, team: 'a' },
    annotations: { 'example.org/a': 'b' },
  });
  await store([
    ...survivors.map(([, manifest]) =>
      named(manifest, manifest.metadata.name, { ...marked('my-home'), ownerReferences: ofHub() }),
    ),
    ...survivors.map(([, manifest]) => ({
      ...named(manifest, `free-${manifest.metadata.name}`, {
        ...marked('free-my-home'),
        ownerReferences: [],
      }),
      // The claim must not be bound to a volume.
      ...(manifest === claim && { spec: { ...(claim['spec'] as object), storageClassName: '' } }),
    })),
    named(configMap, 'plain', { ownerReferences: ofHub() }),
    { ...named(secret, 'home-token-admin', asToken()), data: { token: 'MQ==' } },
    { ...pod(), metadata: { name: 'my-home-0', labels }, spec: { containers: [{ name: 'x', image: 'x' }] } },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'my-home', labels, ownerReferences: ofHub() },
      spec: { ports: [{ port: 80 }], externalIPs: ['192.0.2.1'] },
    },
    {
      apiVersion: `${API_GROUP}/v1`,
      kind: 'HubFloor',
      metadata: {
        name: 'ground',
        labels: { team: 'a' },
        finalizers: ['example.org/held'],
        ownerReferences: ofHub(),
      },
      spec: { hubRef: { name: 'my-home' }, name: 'Ground' },
    },
  ]);
  await until('the policy is in force', async () => (await create(pod({ hostNetwork: true }))).code === 1);
});

const TRACKED = { 'app.kubernetes.io/instance': 'other-app' };
const TRACKING = { 'argocd.argoproj.io/tracking-id': 'other-app:v1/x' };

describe('an object that outlives its Hub', () => {
  const NO_OWNER = 'gives an object only owners that are its resources';
  const NOT_OTHERS =
    'changes only its own labels and annotations of claims, logins and delivered definitions';

  describe.each(survivors.map(([what]) => what))('%s', (what) => {
    const [kind, name] = asName(what) as [string, string];

    test.each([
      ['that does not exist', owner('v1', 'ConfigMap')],
      ['of the operator', owner(`${API_GROUP}/v1`, 'Hub', 'my-home')],
      ['that controls it', { ownerReferences }],
    ])('gets no owner %s', async (_, metadata) => {
      for (const object of [name, `free-${name}`])
        expect(await patch([kind, object], { metadata })).toMatchObject(refused(NO_OWNER));
    });

    test('gets no owner by another name of its owner in the label', async () => {
      const metadata = { labels: { [`${API_GROUP}/owner`]: 'Hub.other' }, ownerReferences };
      expect(await patch([kind, `free-${name}`], { metadata })).toMatchObject(refused(NO_OWNER));
    });

    test('keeps its owner beside another change, and can be released', async () => {
      const annotations = { [`${API_GROUP}/last-applied-hash`]: 'x' };
      expect(await patch([kind, name], { metadata: { annotations } })).toMatchObject(allowed);
      expect(await patch([kind, name], { metadata: { annotations, ownerReferences: [] } })).toMatchObject(
        allowed,
      );
    });

    test.each([
      ['a label by which others find it', { labels: TRACKED }, 'app.kubernetes.io/instance'],
      ['another value of a label of a person', { labels: { team: 'b' } }, 'team'],
      ['without a label of a person', { labels: { team: null } }, 'team'],
      ['an annotation by which others find it', { annotations: TRACKING }, 'argocd.argoproj.io/tracking-id'],
      ['without an annotation of a person', { annotations: { 'example.org/a': null } }, 'example.org/a'],
    ])('gets %s: refused', async (_, metadata, found) => {
      const { stderr } = await patch([kind, name], { metadata });
      expect(stderr).toMatch(new RegExp(`${NOT_OTHERS}[^:]*: ${found}$`, 'm'));
    });

    test('gets no finalizer, and loses none', async () => {
      const words = refused('changes no finalizers');
      expect(await patch([kind, name], { metadata: { finalizers: ['example.org/a'] } })).toMatchObject(words);
      // The API server has added its protection finalizer to the claim.
      if (kind === 'pvc')
        expect(await patch([kind, name], { metadata: { finalizers: [] } })).toMatchObject(words);
    });
  });

  test('a login is neither changed nor deleted', async () => {
    expect(await patch(['secret', 'my-home-admin'], { data: { password: 'Mg==' } })).toMatchObject(
      refused('changes no login'),
    );
    expect(await remove('secret', 'my-home-admin')).toMatchObject(refused('deletes no claims and no logins'));
    expect(await remove('pvc', 'my-home-config')).toMatchObject(refused('deletes no claims and no logins'));
  });

  test('the API token is renewed and moved also where the user has given its Secret the name of a login', async () => {
    const token = ['secret', 'home-token-admin'];
    expect(await patch(token, { data: { token: 'Mg==' } })).toMatchObject(allowed);
    expect(await remove(...token)).toMatchObject(allowed);
    // A login cannot be turned into a token.
    expect(
      await patch(['secret', 'my-home-admin'], { metadata: { labels: API_TOKEN_LABELS } }),
    ).toMatchObject(refused(NOT_OTHERS));
    expect(
      await patch(['secret', 'my-home-admin'], {
        data: { password: 'Mg==' },
        metadata: { labels: API_TOKEN_LABELS },
      }),
    ).toMatchObject(refused('changes no login'));
  });

  test('delivered definitions are changed, and deleted', async () => {
    expect(await patch(['configmap', 'my-home-delivery-0'], { data: { a: 'b' } })).toMatchObject(allowed);
    expect(await remove('configmap', 'my-home-delivery-0')).toMatchObject(allowed);
  });
});

describe('resources of people', () => {
  const words = refused('changes no metadata of its resources');

  test.each(['hub/my-home', 'hubfloor/ground'])(
    '%s: labels, owners and finalizers of others stay',
    async (what) => {
      const [kind, name] = asName(what) as [string, string];
      for (const metadata of [
        { labels: TRACKED },
        { labels: { team: null } },
        owner('v1', 'ConfigMap'),
        owner(`${API_GROUP}/v1`, 'Hub'),
        { finalizers: ['example.org/other'] },
        { finalizers: [`${API_GROUP}/other`] },
      ])
        expect(await patch([kind, name], { metadata })).toMatchObject(words);
      expect(await patch([kind, name], { metadata: { annotations: TRACKING } })).toMatchObject(
        refused('changes no spec'),
      );
    },
  );

  test('the finalizer and the owner of a person on one are not removed; the operator’s own is', async () => {
    expect(await patch(['hubfloor', 'ground'], { metadata: { finalizers: [] } })).toMatchObject(words);
    expect(await patch(['hubfloor', 'ground'], { metadata: { ownerReferences: [] } })).toMatchObject(words);
    const finalizers = ['example.org/held', `${API_GROUP}/hubfloor`];
    expect(await patch(['hubfloor', 'ground'], { metadata: { finalizers } })).toMatchObject(allowed);
  });

  test('none is marked as being deleted', async () => {
    const metadata = { deletionTimestamp: '2026-01-01T00:00:00Z' };
    await patch(['hub', 'my-home'], { metadata });
    const { stdout } = await patch(['hub', 'my-home', '-o', 'json'], { metadata });
    expect(stdout).not.toContain('deletionTimestamp');
  });
});

describe('other objects', () => {
  test('have no owners but resources of the operator, and keep those of others', async () => {
    const words = refused('gives an object only owners that are its resources');
    const foreign = owner('v1', 'ConfigMap').ownerReferences;
    const metadata = { ownerReferences: [...ofHub(), ...foreign] };
    expect(
      await create(named(configMap, 'new', { ownerReferences: [...ownerReferences, ...foreign] })),
    ).toMatchObject(words);
    expect(await create(named(claim, 'new', owner('v1', 'ConfigMap')))).toMatchObject(words);
    expect(await patch(['configmap', 'plain'], { metadata })).toMatchObject(words);
    const hub = owner(`${API_GROUP}/v1`, 'Hub').ownerReferences;
    expect(
      await patch(['configmap', 'plain'], { metadata: { ownerReferences: [...ofHub(), ...hub] } }),
    ).toMatchObject(allowed);
  });

  test('have no finalizers, which would hold their namespace', async () => {
    const words = refused('changes no finalizers');
    const finalizers = ['example.org/for-ever'];
    expect(await create(named(configMap, 'new', { finalizers }))).toMatchObject(words);
    expect(await create(named(claim, 'new', { finalizers }))).toMatchObject(words);
    expect(await patch(['configmap', 'plain'], { metadata: { finalizers } })).toMatchObject(words);
    expect(await patch(['pod', 'my-home-0'], { metadata: { finalizers } })).toMatchObject(words);
  });
});

describe('claims and Services', () => {
  const claimWith = (spec: object): Manifest => ({
    ...claim,
    spec: { ...(claim['spec'] as object), ...spec },
  });

  test.each([
    ['volume of another', { volumeName: 'another' }],
    ['copy of another claim', { dataSource: { kind: 'PersistentVolumeClaim', name: 'photos' } }],
    ['copy by a provider', { dataSourceRef: { kind: 'PersistentVolumeClaim', name: 'photos' } }],
    ['selected volume', { selector: { matchLabels: { a: 'b' } } }],
  ])('no claim of a %s', async (_, spec) => {
    expect(await create(named(claimWith(spec), 'new'))).toMatchObject(refused('creates only empty claims'));
    expect(
      await create(named(claimWith({ storageClassName: 'fast', volumeMode: 'Filesystem' }), 'new')),
    ).toMatchObject(allowed);
  });

  test('no claim is bound to a volume by hand', async () => {
    expect(await patch(['pvc', 'free-my-home-config'], { spec: { volumeName: 'another' } })).toMatchObject(
      refused('creates only empty claims'),
    );
  });

  const service = (spec: object): Manifest => ({
    ...configMap,
    kind: 'Service',
    spec: { type: 'NodePort', selector: { app: 'hub' }, ports: [{ port: 8123 }], ...spec },
  });

  test('no Service takes an address of others', async () => {
    const words = refused('creates only Services of a hub');
    expect(await create(service({}))).toMatchObject(allowed);
    expect(
      await create(
        service({
          type: 'LoadBalancer',
          loadBalancerSourceRanges: ['10.0.0.0/8'],
          externalTrafficPolicy: 'Local',
        }),
      ),
    ).toMatchObject(allowed);
    expect(await create(service({ externalIPs: ['192.0.2.1'] }))).toMatchObject(words);
    expect(
      await create(service({ type: 'ExternalName', externalName: 'example.org', ports: [] })),
    ).toMatchObject(words);
  });

  test('a Service keeps what a person has set', async () => {
    const changed = await patch(['service', 'my-home'], { spec: { ports: [{ port: 81 }] } });
    expect(changed).toMatchObject({ code: 0 });
    expect(await patch(['service', 'my-home'], { spec: { externalIPs: ['192.0.2.2'] } })).toMatchObject(
      refused('creates only Services of a hub'),
    );
  });
});
