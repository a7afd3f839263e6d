import { isDeepStrictEqual } from 'node:util';
import { freshNamespace, kubectl, mustKubectl, until } from '../../cluster';
import { install, uninstall } from '../../cluster/definitions';
import { configuration, Home, type StoredCondition } from '../../cluster/home';
import { idleHub } from '../../cluster/idle-hub';
import { startHub } from '../../cluster/onboarded-volume';
import { startTestOperator, type TestOperator } from '../../cluster/operator';

// The objects through which other programs reach the hub, with the real CRDs of cert-manager and of the
// Gateway API. Their controllers (load balancers, ingress controllers, network plugins) are not installed.

let home: Home;
let operator: TestOperator;

beforeAll(async () => {
  home = new Home(await freshNamespace('exposure'));
  await Promise.all([uninstall('certManager'), uninstall('gatewayApi')]);
  operator = await startTestOperator(home.namespace);
  await home.apply(idleHub('villa'), configuration('villa'));
  await until('the Service is made', () => home.exists('service', 'villa'));
});

afterAll(() => Promise.all([uninstall('certManager'), uninstall('gatewayApi')]));

const change = (spec: object) => home.change('hub', 'villa', spec);
const specOf = async (kind: string) => (await home.get(kind, 'villa')).spec;
const becomes = (kind: string, expected: object) =>
  until(`${kind} villa is as expected`, async () => {
    const seen = await specOf(kind);
    expect(seen).toMatchObject(expected);
    return true;
  });
const isGone = (kind: string) =>
  until(`${kind} villa is gone`, async () => !(await home.exists(kind, 'villa')));
const condition = (type: string, expected: Partial<StoredCondition>) =>
  until(`${type} is ${JSON.stringify(expected)}`, async () => {
    const seen = await home.condition('hub', 'villa', type);
    if (seen && isDeepStrictEqual({ ...seen, ...expected }, seen)) return seen;
    throw new Error(JSON.stringify(seen));
  });
/** The pod of this Hub is never scheduled, so a Hub without other faults reports PodNotReady. */
const goesOn = () => home.ready('hub', 'villa', { status: 'False', reason: 'PodNotReady' });
const isAbsent = (type: string) =>
  until(`there is no condition ${type}`, async () => {
    const { status, metadata } = await home.get('hub', 'villa');
    return (
      status?.['observedGeneration'] === metadata.generation &&
      !status?.conditions?.some((each) => each.type === type)
    );
  });
/** Makes an object of another owner with the operator's name for it. */
const foreign = (kind: string, apiVersion: string, spec: object) => ({
  apiVersion,
  kind,
  metadata: { name: 'villa' },
  spec,
});

describe('service', () => {
  test('a ClusterIP with the requested port, in front of port 8123 of the pod', async () => {
    await change({ service: { port: 80 } });
    await becomes('service', { type: 'ClusterIP', ports: [{ port: 80, targetPort: 8123 }] });
  });

  // The port is in the part of the range from which the API server assigns no ports automatically.
  test('a NodePort with its annotations and its externalTrafficPolicy', async () => {
    await change({
      service: {
        type: 'NodePort',
        port: 80,
        nodePort: 30023,
        externalTrafficPolicy: 'Local',
        annotations: { 'example.org/dns': 'villa' },
      },
    });
    await becomes('service', {
      type: 'NodePort',
      externalTrafficPolicy: 'Local',
      ports: [{ port: 80, nodePort: 30023 }],
    });
    expect((await home.get('service', 'villa')).metadata.annotations).toMatchObject({
      'example.org/dns': 'villa',
    });
  });

  test('LoadBalancer with class and source ranges', async () => {
    await change({
      service: {
        type: 'LoadBalancer',
        nodePort: null,
        externalTrafficPolicy: null,
        annotations: null,
        loadBalancerClass: 'example.org/own',
        loadBalancerSourceRanges: ['192.168.0.0/16'],
      },
    });
    await becomes('service', {
      type: 'LoadBalancer',
      loadBalancerClass: 'example.org/own',
      loadBalancerSourceRanges: ['192.168.0.0/16'],
      externalTrafficPolicy: 'Cluster',
    });
    expect((await home.get('service', 'villa')).metadata.annotations).not.toHaveProperty(['example.org/dns']);
  });

  test('another class is refused with a remedy, and is set with a new Service', async () => {
    await change({ service: { loadBalancerClass: 'example.org/other' } });
    const { message } = await home.ready('hub', 'villa', { status: 'False', reason: 'InvalidSpec' });
    expect(message).toContain('spec.service.loadBalancerClass cannot change');
    expect((await specOf('service'))['loadBalancerClass']).toBe('example.org/own');
    const [, command = ''] = /\(kubectl ([^)]*)\)/.exec(message) ?? [];
    await mustKubectl(command.split(' '));
    await becomes('service', { type: 'LoadBalancer', loadBalancerClass: 'example.org/other' });
    await goesOn();
  });

  test('no class is refused with a remedy too', async () => {
    await change({ service: { loadBalancerClass: null } });
    const { message } = await home.ready('hub', 'villa', { status: 'False', reason: 'InvalidSpec' });
    expect(message).toContain('spec.service.loadBalancerClass cannot change');
  });

  test('and back, without leftovers', async () => {
    await change({ service: null });
    await becomes('service', { type: 'ClusterIP', ports: [{ port: 8123, targetPort: 8123 }] });
    const spec = await specOf('service');
    for (const field of ['loadBalancerClass', 'loadBalancerSourceRanges', 'externalTrafficPolicy'])
      expect(spec).not.toHaveProperty(field);
    expect(spec['ports']).not.toMatchObject([{ nodePort: expect.anything() as unknown }]);
  });

  test('a port that the cluster does not give is refused in its words', async () => {
    await change({ service: { type: 'NodePort', nodePort: 80 } });
    const { message } = await home.ready('hub', 'villa', { status: 'False', reason: 'InvalidSpec' });
    expect(message).toMatch(/nodePort: Invalid value: 80: provided port is not in the valid range/);
    await change({ service: null });
    await goesOn();
  });
});

describe('ingress', () => {
  const ingress = {
    host: 'home.example.org',
    ingressClassName: 'own',
    annotations: { 'example.org/size': '1m' },
  };

  test('an Ingress in front of the Service', async () => {
    await change({ ingress });
    await until('it is made', () => home.exists('ingress', 'villa'));
    expect(await specOf('ingress')).toEqual({
      ingressClassName: 'own',
      rules: [
        {
          host: 'home.example.org',
          http: {
            paths: [
              {
                path: '/',
                pathType: 'Prefix',
                backend: { service: { name: 'villa', port: { name: 'http' } } },
              },
            ],
          },
        },
      ],
    });
    expect((await home.get('ingress', 'villa')).metadata.annotations).toMatchObject({
      'example.org/size': '1m',
    });
    expect((await home.get('ingress', 'villa')).metadata.ownerReferences).toMatchObject([
      { kind: 'Hub', name: 'villa' },
    ]);
  });

  test('a user’s own Secret takes precedence over an issuer', async () => {
    await change({ ingress: { tls: { secretName: 'own-tls', issuerRef: { name: 'acme' } } } });
    await becomes('ingress', { tls: [{ hosts: ['home.example.org'], secretName: 'own-tls' }] });
    await isAbsent('CertManagerAvailable');
    expect(await operator.events('Hub', 'villa')).not.toContainEqual(
      expect.stringContaining('CertManagerUnavailable'),
    );
  });

  test('without cert-manager the hub stays on HTTP: a condition and one event, no error and no loop', async () => {
    await change({ ingress: { tls: { secretName: null } } });
    await condition('CertManagerAvailable', { status: 'False', reason: 'CertManagerNotInstalled' });
    await until('the Ingress has no certificate', async () => !('tls' in (await specOf('ingress'))));
    const unavailable = async () =>
      (await operator.events('Hub', 'villa')).filter((event) =>
        event.startsWith('Warning CertManagerUnavailable'),
      );
    expect(await unavailable()).toHaveLength(1);
    const failures = await operator.failures();
    const began = Date.now();
    const reconciles = await operator.metric('controller_runtime_reconcile_total', 'controller="Hub"');
    await operator.touch('Hub', 'villa');
    expect(await unavailable()).toHaveLength(1);
    expect(await operator.failures()).toEqual(failures);
    const seconds = (Date.now() - began) / 1_000; // the time is long on a busy machine
    expect(
      (await operator.metric('controller_runtime_reconcile_total', 'controller="Hub"')) - reconciles,
    ).toBeLessThan(10 + seconds);
    await goesOn();
  });

  test('without cert-manager a hub is Ready nevertheless', async () => {
    await startHub(home, 'lodge', {
      ingress: { host: 'lodge.example.org', tls: { issuerRef: { name: 'acme' } } },
    });
    expect(await home.condition('hub', 'lodge', 'CertManagerAvailable')).toMatchObject({
      status: 'False',
      reason: 'CertManagerNotInstalled',
    });
  });

  test('the certificate is requested as soon as cert-manager is installed', async () => {
    await install('certManager');
    // Without the new CRD the operator would not reconcile a Ready hub before its resync.
    await until('the certificate of the Ready hub is made', () => home.exists('certificate', 'lodge'));
    await home.delete('hub', 'lodge', { wait: false });
    await condition('CertManagerAvailable', { status: 'True', reason: 'CertManagerInstalled' });
    // The controllers of the Certificate do not run here.
    await condition('Exposed', { status: 'Unknown', reason: 'CertificateNotReady' });
    expect(await specOf('certificate')).toEqual({
      secretName: 'villa-tls',
      dnsNames: ['home.example.org'],
      issuerRef: { name: 'acme', kind: 'Issuer', group: 'cert-manager.io' },
    });
    expect(await specOf('ingress')).toMatchObject({
      tls: [{ hosts: ['home.example.org'], secretName: 'villa-tls' }],
    });
    await change({ ingress: { tls: { issuerRef: { kind: 'ClusterIssuer' } }, host: 'villa.example.org' } });
    await becomes('certificate', { dnsNames: ['villa.example.org'], issuerRef: { kind: 'ClusterIssuer' } });
  });

  test('cert-manager is removed and installed again', async () => {
    await uninstall('certManager');
    await operator.touch('Hub', 'villa');
    await condition('CertManagerAvailable', { status: 'False', reason: 'CertManagerNotInstalled' });
    await until('the Ingress has no certificate', async () => !('tls' in (await specOf('ingress'))));
    await install('certManager');
    await condition('CertManagerAvailable', { status: 'True' });
    await becomes('certificate', { secretName: 'villa-tls' });
  });

  test('TLS off removes the Certificate, Ingress off removes the Ingress', async () => {
    await change({ ingress: { tls: { enabled: false } } });
    await isGone('certificate');
    await until('the Ingress is plain', async () => !('tls' in (await specOf('ingress'))));
    await change({ ingress: { enabled: false } });
    await isGone('ingress');
    await isAbsent('Exposed');
    await isAbsent('CertManagerAvailable');
  });

  test('an Ingress of another owner is never changed, with and without spec.ingress', async () => {
    await home.apply(
      foreign('Ingress', 'networking.k8s.io/v1', {
        defaultBackend: { service: { name: 'other', port: { number: 1 } } },
      }),
    );
    const { metadata } = await home.get('ingress', 'villa');
    await change({ ingress: { enabled: true, tls: null } });
    const { message } = await home.ready('hub', 'villa', { status: 'False', reason: 'NameConflict' });
    expect(message).toMatch(/Ingress .*villa exists and does not belong to Hub villa/);
    await condition('Exposed', { status: 'False', reason: 'NameConflict' });
    await change({ ingress: null });
    await goesOn();
    expect((await home.get('ingress', 'villa')).metadata).toEqual(metadata);
    await home.delete('ingress', 'villa');
  });
});

describe('gateway', () => {
  const gateway = {
    hostnames: ['home.example.org'],
    parentRefs: [{ name: 'front', namespace: 'gateways', sectionName: 'https' }],
    filters: [
      {
        type: 'ResponseHeaderModifier',
        responseHeaderModifier: { add: [{ name: 'X-Home', value: 'villa' }] },
      },
    ],
  };

  test('without the Gateway API: a condition reports it, and the rest continues', async () => {
    await change({ gateway });
    await condition('Exposed', { status: 'False', reason: 'GatewayApiNotInstalled' });
    await goesOn();
  });

  test('when it is installed, the HTTPRoute is made', async () => {
    await install('gatewayApi');
    await condition('Exposed', { status: 'Unknown', reason: 'RouteNotAccepted' });
    expect(await specOf('httproute')).toMatchObject({
      hostnames: ['home.example.org'],
      parentRefs: [{ name: 'front', namespace: 'gateways', sectionName: 'https', kind: 'Gateway' }],
      rules: [{ backendRefs: [{ name: 'villa', port: 8123, kind: 'Service' }], filters: gateway.filters }],
    });
  });

  test('a filter that the Gateway API refuses is reported in its words', async () => {
    await change({ gateway: { filters: [{ type: 'Nonsense' }] } });
    const { message } = await home.ready('hub', 'villa', { status: 'False', reason: 'InvalidSpec' });
    expect(message).toMatch(/filters\[0\].type: Unsupported value: "Nonsense"/);
  });

  test('off removes the HTTPRoute, if it is ours', async () => {
    await change({ gateway: null });
    await isGone('httproute');
    await isAbsent('Exposed');
    await home.apply(
      foreign('HTTPRoute', 'gateway.networking.k8s.io/v1', { hostnames: ['other.example.org'] }),
    );
    await operator.touch('Hub', 'villa');
    await goesOn();
    expect(await specOf('httproute')).toMatchObject({ hostnames: ['other.example.org'] });
  });
});

describe('networkPolicy', () => {
  const operatorPeer = {
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'hub-operator' } },
    podSelector: { matchLabels: { 'app.kubernetes.io/name': 'hub-operator' } },
  };

  test('closes the pod’s port to all except the operator and the peers in the spec', async () => {
    await change({ service: { port: 80 }, networkPolicy: { enabled: true } });
    await until('it is made', () => home.exists('networkpolicy', 'villa'));
    const own = {
      podSelector: {
        matchLabels: { 'app.kubernetes.io/name': 'home-assistant', 'app.kubernetes.io/instance': 'villa' },
      },
      policyTypes: ['Ingress'],
    };
    const ports = [{ port: 8123, protocol: 'TCP' }];
    expect(await specOf('networkpolicy')).toEqual({ ...own, ingress: [{ from: [operatorPeer], ports }] });
    const from = [
      { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'ingress' } } },
      { ipBlock: { cidr: '192.168.1.0/24', except: ['192.168.1.7/32'] } },
    ];
    await change({ networkPolicy: { from } });
    await becomes('networkpolicy', { ingress: [{ from: [operatorPeer, ...from], ports }] });
  });

  test('the peer matches the operator as it ships, and the selector matches the hub’s pod', async () => {
    const { spec } = JSON.parse(
      await mustKubectl(['get', 'deployment', 'hub-operator', '--namespace=hub-operator', '--output=json']),
    ) as {
      spec: { template: { metadata: { labels: object } } };
    };
    expect(spec.template.metadata.labels).toMatchObject(operatorPeer.podSelector.matchLabels);
    const { podSelector } = (await specOf('networkpolicy')) as {
      podSelector: { matchLabels: Record<string, string> };
    };
    const selector = Object.entries(podSelector.matchLabels).map(([key, value]) => `${key}=${value}`);
    // The pod may be replaced at this moment.
    await until('it selects the pod', async () => {
      const args = ['get', 'pods', `--selector=${selector.join(',')}`, '--output=name'];
      const { stdout } = await kubectl(args, { namespace: home.namespace });
      if (stdout.trim() === 'pod/villa-0') return true;
      throw new Error(stdout);
    });
  });

  test('enabled: false removes the NetworkPolicy', async () => {
    await change({ networkPolicy: { enabled: false } });
    await isGone('networkpolicy');
  });
});

test('all of them are deleted with the Hub', async () => {
  await home.delete('httproute', 'villa');
  await change({
    ingress: { host: 'home.example.org', tls: { issuerRef: { name: 'acme' } } },
    gateway: { parentRefs: [{ name: 'front' }] },
    networkPolicy: { enabled: true },
  });
  const kinds = ['ingress', 'certificate', 'httproute', 'networkpolicy'];
  for (const kind of kinds) await until(`${kind} is made`, () => home.exists(kind, 'villa'));
  await home.delete('hub', 'villa');
  for (const kind of [...kinds, 'statefulset', 'service', 'configmap/villa-operator-ip']) {
    const [type = '', name = 'villa'] = kind.split('/');
    await until(`${kind} is gone`, async () => !(await home.exists(type, name)));
  }
});
