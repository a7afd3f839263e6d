import type { Hub } from '../../../../../operator/kinds';
import { API_GROUP } from '../../../../../operator/kinds/group';
import { HubRejected } from '../../../../../operator/client/connection/errors';
import { ApiError } from '../../../../../operator/runtime/api-errors';
import { Applier } from '../../../../../operator/runtime/apply';
import type { ClusterObject } from '../../../../../operator/runtime/objects';
import { ready } from '../../../../../operator/runtime/outcome';
import { addExposure } from '../../../../../operator/sync/hub/exposure';
import { checkTrustedProxies } from '../../../../../operator/sync/hub/exposure/trusted-proxies';
import {
  type Authenticated,
  type HubContext,
  type HubStep,
  Steps,
} from '../../../../../operator/sync/hub/steps';
import { ManualClock } from '../../../manual-clock';
import { FakeApiClient, notFound } from '../../../runtime/fake-api-client';
import { aHub, aHubContext, services } from '../../fixtures';

/** The objects of the cluster by the last parts of their path, such as `ingresses/villa`. */
let objects: Record<string, ClusterObject>;
/** Changes the answer of the API server to an apply. */
let admit: (object: ClusterObject) => ClusterObject;

/** The hub's answer about its web server; undefined when the hub does not know the command. */
let settings: object | undefined;
let isConnected: boolean;
/** The message of the condition `Exposed` before the reconcile. */
let said: string;

beforeEach(() => {
  objects = {};
  settings = {
    active_config_type: 'default',
    default: { use_x_forwarded_for: true, trusted_proxies: ['10.0.0.0/8'] },
  };
  [isConnected, said] = [true, ''];
  admit = (object) => object;
});

/** A step after which the hub runs and trusts its proxies. */
const connected: HubStep<HubContext, Authenticated> = {
  name: 'bootstrap',
  run: () =>
    Promise.resolve({
      url: 'http://villa',
      core: {} as never,
      client: {
        connection: {
          command: (type: string) => {
            if (settings) return Promise.resolve(settings);
            if (type === 'get_config') return Promise.resolve({ version: '2026.7.0' });
            return Promise.reject(new HubRejected('unknown_command', 'Unknown command.'));
          },
        },
      } as never,
    }),
};

/** Returns the condition `Exposed` after a reconcile of a Hub that was reachable before. */
async function exposed(spec: Hub['spec']) {
  const clock = new ManualClock();
  const cluster = new FakeApiClient(clock, ({ method, path, body }) => {
    const key = path.split('/').slice(-2).join('/');
    if (path.startsWith('/apis/') && path.split('/').length === 4)
      return { resources: [{ name: 'httproutes' }, { name: 'certificates' }] };
    if (method !== 'GET') return (objects[key] = admit(body as ClusterObject));
    if (objects[key]) return objects[key];
    throw notFound();
  });
  const set = { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { name: 'villa', namespace: 'home' } };
  const cache = {
    get: <T>(kind: string) => (kind === 'StatefulSet' ? set : undefined) as T | undefined,
    recordWrite: <T>(object: T) => object,
    watches: () => false,
  };
  const applier = new Applier(cluster, cache, API_GROUP);
  Object.assign(set.metadata, { labels: applier.labels(aHub()) });
  const was = {
    status: 'True',
    reason: 'Exposed',
    message: said,
    observedGeneration: 1,
    lastTransitionTime: '',
  } as const;
  const hub = aHub({ spec, status: { conditions: [{ type: 'Exposed', ...was }] } });
  const written = addExposure(Steps.none(), services({ applier, cache, clock, cluster }));
  const steps = isConnected ? written.add(connected).add(checkTrustedProxies) : written;
  const outcome = await steps.run(aHubContext(hub), () => ready('HubRunning', 'It runs.'));
  return outcome.conditions?.Exposed;
}

const ingress = { enabled: true, host: 'home.example.org' };
const gateway = { enabled: true, hostnames: ['hub.example.org'], parentRefs: [{ name: 'front' }] };

const withIssuer = { ...ingress, tls: { enabled: true, issuerRef: { name: 'acme' } } };

/** Sets the conditions that cert-manager writes to the Certificate. */
const issuing = (conditions: readonly object[]) => (object: ClusterObject) =>
  object.kind === 'Certificate'
    ? { ...object, metadata: { ...object.metadata, generation: 2 }, status: { conditions } }
    : object;
const notReady = {
  type: 'Ready',
  status: 'False',
  reason: 'DoesNotExist',
  message: 'Issuing certificate as Secret does not exist',
  observedGeneration: 2,
};

/** Sets the status that controllers write to the HTTPRoute. */
const withParents = (parents: readonly object[]) => (object: ClusterObject) =>
  object.kind === 'HTTPRoute'
    ? { ...object, metadata: { ...object.metadata, generation: 2 }, status: { parents } }
    : object;
/** Sets the conditions of the Gateway `front` in the HTTPRoute. */
const answering = (conditions: readonly object[]) =>
  withParents([{ parentRef: { name: 'front' }, conditions }]);
const accepted = { type: 'Accepted', status: 'True', reason: 'Accepted', observedGeneration: 2 };
const resolved = { type: 'ResolvedRefs', status: 'True', reason: 'ResolvedRefs', observedGeneration: 2 };

describe('addExposure', () => {
  test('Exposed is True when the objects are written, the Gateway accepts the route and the hub trusts its proxies', async () => {
    admit = answering([accepted, resolved]);
    expect(await exposed({ ingress, gateway })).toEqual({
      status: 'True',
      reason: 'Exposed',
      message:
        'The Ingress villa for home.example.org is written; no ingress controller has reported an address of it, as some never do. ' +
        'The HTTPRoute villa for hub.example.org is accepted. The hub trusts its proxies.',
    });
  });

  test('Exposed has the addresses that a controller has reported for the Ingress', async () => {
    const loadBalancer = { ingress: [{ ip: '192.0.2.9' }, { hostname: 'lb.example.org' }] };
    admit = (object) => (object.kind === 'Ingress' ? { ...object, status: { loadBalancer } } : object);
    expect(await exposed({ ingress })).toMatchObject({
      status: 'True',
      message:
        'The Ingress villa for home.example.org is written, at 192.0.2.9, lb.example.org. The hub trusts its proxies.',
    });
  });

  test('Exposed does not claim that a hub trusts its proxies if the hub cannot report it', async () => {
    settings = undefined;
    const first = await exposed({ ingress });
    expect(first).toMatchObject({
      status: 'True',
      message: expect.stringMatching(
        / A hub older than 2026\.8 does not say whether it trusts its proxies\.$/,
      ),
    });
    isConnected = false;
    said = first!.message;
    expect(await exposed({ ingress })).toEqual(first);
  });

  test('Exposed names the Ingress of another owner, which does not lead to the hub', async () => {
    objects['ingresses/villa'] = {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'Ingress',
      metadata: { name: 'villa', namespace: 'home' },
    };
    admit = answering([accepted, resolved]);
    for (const spec of [{ ingress }, { ingress, gateway }])
      expect(await exposed(spec)).toMatchObject({
        status: 'False',
        reason: 'NameConflict',
        message: expect.stringContaining('Ingress home/villa exists'),
      });
  });

  test('Exposed names the Service of another owner, to which Ingress and HTTPRoute lead', async () => {
    objects['services/villa'] = { kind: 'Service', metadata: { name: 'villa', namespace: 'home' } };
    admit = answering([accepted, resolved]);
    for (const spec of [{ ingress }, { gateway }, { ingress, gateway }])
      expect(await exposed(spec)).toMatchObject({
        status: 'False',
        reason: 'NameConflict',
        message: expect.stringContaining('Service home/villa exists'),
      });
    expect(await exposed({})).toBeNull();
  });

  test('Exposed names the fields of the HTTPRoute that the API server refuses', async () => {
    admit = (object) => {
      if (object.kind !== 'HTTPRoute') return object;
      throw new ApiError(422, 'Invalid', 'filters[0].type: Unsupported value');
    };
    expect(await exposed({ gateway })).toMatchObject({ status: 'False', reason: 'InvalidSpec' });
  });

  test.each([
    ['nothing', []],
    ['something about an earlier version of the route', [{ ...accepted, observedGeneration: 1 }]],
  ])('Exposed is Unknown while the Gateway has reported %s', async (_, conditions) => {
    admit = answering(conditions);
    expect(await exposed({ gateway })).toMatchObject({ status: 'Unknown', reason: 'RouteNotAccepted' });
  });

  test.each([
    [[{ ...accepted, status: 'False', reason: 'NotAllowedByListeners' }], 'NotAllowedByListeners'],
    [
      [accepted, { ...resolved, status: 'False', reason: 'BackendNotFound', message: 'No such Service.' }],
      'No such',
    ],
  ])('Exposed has the words of a Gateway that does not accept the route: %j', async (conditions, words) => {
    admit = answering(conditions);
    expect(await exposed({ gateway })).toMatchObject({
      status: 'False',
      reason: 'RouteNotAccepted',
      message: expect.stringContaining(words),
    });
  });

  const parentRefs = [{ name: 'front' }, { name: 'back', sectionName: 'https' }];
  test.each<[string, readonly object[], string | undefined]>([
    [
      'two controllers for the first of two',
      [
        { parentRef: { name: 'front' }, controllerName: 'example.org/a', conditions: [accepted] },
        { parentRef: { name: 'front' }, controllerName: 'example.org/b', conditions: [accepted] },
      ],
      'back/https',
    ],
    [
      'another listener of the second',
      [
        { parentRef: { name: 'front' }, conditions: [accepted] },
        { parentRef: { name: 'back', sectionName: 'http' }, conditions: [accepted] },
      ],
      'back/https',
    ],
    [
      'a Gateway of another namespace',
      [
        { parentRef: { name: 'front', namespace: 'other' }, conditions: [accepted] },
        { parentRef: { name: 'back', sectionName: 'https' }, conditions: [accepted] },
      ],
      'front',
    ],
    [
      'both, with the defaults of the Gateway API',
      [
        {
          parentRef: {
            group: 'gateway.networking.k8s.io',
            kind: 'Gateway',
            namespace: 'home',
            name: 'front',
          },
          conditions: [accepted],
        },
        { parentRef: { name: 'back', sectionName: 'https' }, conditions: [accepted] },
        { parentRef: { name: 'former' }, conditions: [{ ...accepted, status: 'False' }] },
      ],
      undefined,
    ],
  ])('each Gateway has to accept the route: it is accepted by %s', async (_, parents, open) => {
    admit = withParents(parents);
    const expected =
      open === undefined
        ? { status: 'True' }
        : {
            status: 'Unknown',
            message: `Waiting for the Gateway ${open} of spec.gateway.parentRefs to accept the HTTPRoute villa.`,
          };
    expect(await exposed({ gateway: { ...gateway, parentRefs } })).toMatchObject(expected);
  });

  test('Exposed is True when cert-manager has issued the certificate, also while it issues the next one', async () => {
    const isReady = { ...notReady, status: 'True', reason: 'Ready' };
    admit = issuing([isReady, { type: 'Issuing', status: 'True', reason: 'Renewing', message: '' }]);
    expect(await exposed({ ingress: withIssuer })).toMatchObject({ status: 'True', reason: 'Exposed' });
  });

  test.each([
    ['nothing', [], 'Waiting for cert-manager to issue the Certificate villa.'],
    [
      'something about an earlier version',
      [{ ...notReady, observedGeneration: 1 }],
      'Waiting for cert-manager',
    ],
    ['only that there is no Secret', [notReady], 'Issuing certificate as Secret does not exist'],
    [
      'that it issues it',
      [notReady, { type: 'Issuing', status: 'True', reason: 'DoesNotExist', message: '' }],
      'Issuing certificate as Secret does not exist',
    ],
  ])(
    'Exposed is Unknown while cert-manager has reported %s of the certificate',
    async (_, conditions, words) => {
      admit = issuing(conditions);
      for (const spec of [{ ingress: withIssuer }, { ingress: withIssuer, gateway }])
        expect(await exposed(spec)).toMatchObject({
          status: 'Unknown',
          reason: 'CertificateNotReady',
          message: expect.stringContaining(words),
        });
    },
  );

  test.each([
    [[{ ...notReady, reason: 'IncorrectIssuer', message: undefined }], '(IncorrectIssuer): correct'],
    [
      [notReady, { type: 'Issuing', status: 'False', reason: 'Failed', message: 'acme: rate limited' }],
      'Failed: acme: rate limited',
    ],
  ])(
    'Exposed has the words of cert-manager, which cannot issue the certificate: %j',
    async (conditions, words) => {
      admit = issuing(conditions);
      expect(await exposed({ ingress: withIssuer })).toMatchObject({
        status: 'False',
        reason: 'CertificateNotReady',
        message: expect.stringContaining(words),
      });
    },
  );
});
