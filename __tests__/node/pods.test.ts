import { existsSync } from 'node:fs';
import { load } from 'js-yaml';
import { NAMESPACE, OPERATOR } from '../../manifests/names';
import { defaultSettings } from '../../manifests/settings';
import { kubectl, mustKubectl, until } from '../cluster';
import { forceReconcile } from '../cluster/forced-reconcile';
import { configuration, hub, HUB_VERSION } from '../cluster/home';
import { documentedYaml } from '../integration/docs/documented-commands';
import { install, nodeAddress, onNode, podsOf, visit, visitorAddress } from '../node-cluster';
import { startDevicePlugin } from '../node-cluster/device-plugin';
import { NodeHome } from '../node-cluster/home';
import { askUnsteady, light, lightHub, unsteady } from '../node-cluster/light-hub';

// Tests how kubelet, scheduler and network treat the fields of a Hub. Most pods run a lightweight program in
// place of the hub.

/** A server of gRPC's health protocol. It reports SERVING after a request for /serve. */
const GRPC = `
let status = 2; // NOT_SERVING
require('node:http2').createServer().on('stream', (stream, { ':path': path }) => {
  if (path === '/serve') {
    status = 1; // SERVING
    stream.respond({ ':status': 200 }, { endStream: true });
    return;
  }
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
  stream.end(Buffer.from([0, 0, 0, 0, 2, 8, status]));
}).listen(Number(process.argv[1]));
process.on('SIGTERM', () => process.exit());
`;

/** A client that sends the request for /serve. */
const SERVE = `
const client = require('node:http2').connect(process.argv[1]);
client.request({ ':path': '/serve' }).on('end', () => client.close()).resume();
`;

/** The device that a plugin offers. */
interface Stick {
  readonly name: string;
  readonly groups: readonly [{ readonly paths: readonly [{ readonly mountPath: string }] }];
}

let home: NodeHome;

beforeAll(async () => {
  await install();
  home = await NodeHome.make('pods');
});

async function run(...objects: readonly ReturnType<typeof hub>[]): Promise<void> {
  for (const object of objects) await home.apply(configuration(object.metadata.name), object);
}

const isReady = (name: string) =>
  until(`the pod of ${name} is ready`, async () => {
    const pod = (await podsOf(home.namespace)).find(({ metadata }) => metadata.name === `${name}-0`);
    if (pod?.status.containerStatuses?.every(({ ready }) => ready)) return pod;
    throw new Error(JSON.stringify(pod?.status));
  });

const says = (name: string, words: RegExp) =>
  until(`Hub ${name} says ${String(words)}`, async () => {
    const condition = await home.condition('hub', name);
    if (condition?.status === 'False' && words.test(condition.message)) return condition.message;
    throw new Error(JSON.stringify(condition));
  });

/** Waits until a lightweight program answers the node at `url`. */
const answersTo = (url: string) =>
  until(`${url} answers`, async () => /^[\d.]+$/.test(await onNode('curl', '-s', '--max-time', '60', url)));

const remove = (name: string) => home.delete('hub', name);

describe('the pod of a Hub on a real node', () => {
  test('whose image cannot be pulled says so, and comes up when the tag is corrected', async () => {
    await run(lightHub('typo', { version: '2026.11.0-typo' }));
    await until('it has a pod', () => home.exists('pod', 'typo-0'));
    await says('typo', /ErrImagePull|ImagePullBackOff/);
    await home.change('hub', 'typo', { version: HUB_VERSION });
    await isReady('typo');
    await remove('typo');
  });

  test('that needs more memory than its limit says that it was killed for it, and what to raise', async () => {
    await run(hub('small', { resources: { limits: { memory: '64Mi' } } }));
    const message = await says('small', /OOMKilled/);
    expect(message).toContain('raise spec.resources.limits.memory');
    await remove('small');
  });

  test('that is down in its container, as while it restores a backup, is not ended; one that hangs is', async () => {
    const probes = {
      livenessProbe: { periodSeconds: 5, failureThreshold: 2 },
      readinessProbe: { periodSeconds: 2, failureThreshold: 1 },
    };
    await run(lightHub('down', {}, { command: unsteady(40), ...probes }));
    await isReady('down');
    const container = async () => {
      const pods = await podsOf(home.namespace);
      return pods.find(({ metadata }) => metadata.name === 'down-0')!.status.containerStatuses![0]!;
    };
    await askUnsteady(home, 'down', '/down');
    await until('it is down', async () => !(await container()).ready);
    await isReady('down');
    expect(await container()).toMatchObject({ restartCount: 0 });
    // The program never answers this request.
    void askUnsteady(home, 'down', '/hang').catch(() => undefined);
    await until('it is started again', async () => (await container()).restartCount === 1);
    await remove('down');
  });

  describe('behind a node port', () => {
    const nodePort = async () => {
      const { ports } = (await home.get('service', 'open')).spec as {
        ports: readonly { nodePort: number }[];
      };
      return `http://${nodeAddress()}:${ports[0]!.nodePort}`;
    };
    const seen = (address: (seen: string) => boolean) =>
      until('a visitor is seen under the address', async () => {
        const answer = (await visit(await nodePort())).body;
        if (address(answer)) return answer;
        throw new Error(answer);
      });

    test('sees the visitor under an address of the node, and under its own with externalTrafficPolicy Local', async () => {
      await run(lightHub('open', { service: { type: 'NodePort' } }));
      const { status } = await isReady('open');
      const of = await seen((address) => address !== visitorAddress());
      expect(await onNode('ip', '-4', 'address')).toContain(`inet ${of}/`);
      await home.change('hub', 'open', { service: { type: 'NodePort', externalTrafficPolicy: 'Local' } });
      await seen((address) => address === visitorAddress());
      const { clusterIP } = (await home.get('service', 'open')).spec;
      await answersTo(`http://${String(clusterIP)}:8123`);
      expect((await isReady('open')).status.podIP).toBe(status.podIP);
      await remove('open');
    });
  });

  test('is not given the claim of another Hub while a policy refuses to release that', async () => {
    const account = `system:serviceaccount:${NAMESPACE}:${OPERATOR}`;
    const name = `no-release-${home.namespace}`;
    const own = 'object.metadata.?ownerReferences == oldObject.metadata.?ownerReferences';
    const policy = {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name },
      spec: {
        matchConstraints: {
          namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': home.namespace } },
          resourceRules: [
            {
              apiGroups: [''],
              apiVersions: ['v1'],
              operations: ['UPDATE'],
              resources: ['persistentvolumeclaims'],
            },
          ],
        },
        matchConditions: [{ name: 'operator', expression: `request.userInfo.username == '${account}'` }],
        validations: [{ expression: own, message: 'owners of claims stay' }],
      },
    };
    const binding = {
      ...policy,
      kind: 'ValidatingAdmissionPolicyBinding',
      spec: { policyName: name, validationActions: ['Deny'] },
    };
    await run(lightHub('house'), lightHub('guest'));
    const { metadata } = await isReady('guest');
    await isReady('house');
    await mustKubectl(['apply', '-f', '-'], {
      input: JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [policy, binding] }),
    });
    await until('the policy refuses', async () => {
      const patch = '--patch={"metadata":{"ownerReferences":null}}';
      const claim = ['patch', 'persistentvolumeclaim', 'house-config', '--dry-run=server'];
      const { stderr } = await kubectl([...claim, `--as=${account}`, patch], { namespace: home.namespace });
      return stderr.includes('owners of claims stay');
    });
    await home.change('hub', 'guest', { storage: { existingClaim: 'house-config' } });
    await says('guest', /owners of claims stay/);
    // A changed pod template is written after 3 s without further changes.
    const asked = Date.now();
    await until('a rollout would have begun', () => Date.now() - asked > 5_000);
    await forceReconcile(home, 'hub', 'guest');
    await says('guest', /owners of claims stay/);
    const mounts = async () => JSON.stringify((await home.get('statefulset', 'guest')).spec);
    expect(await mounts()).toContain('guest-config');
    await mustKubectl(['delete', 'validatingadmissionpolicybinding,validatingadmissionpolicy', name]);
    await says('guest', /house-config/);
    expect(await mounts()).not.toContain('house-config');
    expect((await isReady('guest')).metadata.uid).toBe(metadata.uid);
    await Promise.all([remove('guest'), remove('house')]);
    // If the guest was reconciled before both Hubs were deleted, the claim outlives its Hub, because another
    // Hub refers to it (rules.md, "Storage").
    const claim = ['persistentvolumeclaim', 'house-config', '--ignore-not-found'];
    await mustKubectl(['delete', ...claim], { namespace: home.namespace });
  });

  test('in the network of its node listens there, and knows the names of the cluster', async () => {
    await run(lightHub('host', { hostNetwork: true }));
    await isReady('host');
    expect(await onNode('ss', '-ltnH')).toMatch(/:8123\s/);
    const lookup = "import socket; print(socket.gethostbyname('kubernetes.default.svc'))";
    const address = await until('it is looked up', () => home.inHub('host', 'python3', '-c', lookup));
    expect(address.trim()).toBe('10.96.0.1');
    await remove('host');
  });

  test('runs as the user of its security context, with a native sidecar and a second port', async () => {
    const sidecar = {
      name: 'aside',
      image: `ghcr.io/home-assistant/home-assistant:${HUB_VERSION}`,
      restartPolicy: 'Always',
      command: light(9000),
    };
    await run(
      lightHub(
        'user',
        {},
        { securityContext: { runAsUser: 1234 }, ports: [{ name: 'more', containerPort: 9000 }] },
        { initContainers: [sidecar] },
      ),
    );
    const { status } = await isReady('user');
    expect(status.initContainerStatuses).toContainEqual(
      expect.objectContaining({
        name: 'aside',
        started: true,
        state: { running: expect.anything() as object },
      }),
    );
    expect((await home.inHub('user', 'id', '-u')).trim()).toBe('1234');
    await answersTo(`http://${status.podIP}:9000`);
    await remove('user');
  });

  test('with a readiness probe of gRPC is ready when that answers SERVING', async () => {
    const port = 9001;
    const probe = { grpc: { port } };
    // A probe uses the address of the pod, so another container can answer it. The operator's image has
    // Node.js.
    const server = {
      name: 'health',
      image: defaultSettings.image,
      restartPolicy: 'Always',
      command: ['/nodejs/bin/node', '-e', GRPC, String(port)],
    };
    const probes = { startupProbe: probe, livenessProbe: null, readinessProbe: probe };
    await run(lightHub('grpc', {}, probes, { initContainers: [server] }));
    await until('the probe is answered with NOT_SERVING', async () => {
      const { stdout } = await kubectl(['get', 'events', '--output=json'], { namespace: home.namespace });
      return /NOT_SERVING/.test(stdout);
    });
    const pod = (await podsOf(home.namespace)).find(({ metadata }) => metadata.name === 'grpc-0');
    expect(pod!.status.containerStatuses).toMatchObject([{ ready: false }]);
    await until('it is asked to serve', async () => {
      await onNode(process.execPath, '-e', SERVE, `http://${pod!.status.podIP}:${port}`);
      return true;
    });
    await isReady('grpc');
    await remove('grpc');
  });

  test('shares a volume of the access mode ReadWriteOncePod with no other pod', async () => {
    await run(lightHub('alone', { storage: { accessModes: ['ReadWriteOncePod'] } }));
    const { spec } = await isReady('alone');
    const second = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'second' },
      spec: {
        containers: [{ name: 'second', image: spec.containers[0]!.image, command: light() }],
        volumes: [{ name: 'config', persistentVolumeClaim: { claimName: 'alone-config' } }],
      },
    };
    await home.apply(second);
    await until('the second pod is refused', async () => {
      const { conditions } = (await home.get('pod', 'second')).status as {
        conditions?: readonly { type: string; message?: string }[];
      };
      return conditions?.some(({ message }) => message?.includes('ReadWriteOncePod'));
    });
    await mustKubectl(['delete', 'pod', 'second', '--grace-period=0', '--force'], {
      namespace: home.namespace,
    });
    await remove('alone');
  });

  test('that asks for a device waits for a plugin that has it, and gets it alone, as documented', async () => {
    const page = 'docs/how-to/radios-and-discovery.md';
    const { args } = load(documentedYaml(page, 'mountPath: /dev/zigbee')) as { args: [string, string] };
    const { name, groups } = load(args[1]) as Stick;
    const [{ mountPath }] = groups[0].paths;
    const resource = `squat.ai/${name}`;
    const { spec } = load(documentedYaml(page, resource)) as { spec: Readonly<Record<string, unknown>> };
    const lacks = new RegExp(`Insufficient ${resource}`);
    // A device that a container does not have by default, in place of a USB stick.
    const path = ['/dev/fuse', '/dev/net/tun', '/dev/loop-control'].find((each) => existsSync(each))!;

    await run(lightHub('radio', spec));
    await says('radio', lacks);
    const stop = await startDevicePlugin({ resource, path, mountPath });
    try {
      await isReady('radio');
      const numbers = ['stat', '--format=%F %t:%T'];
      expect(await home.inHub('radio', ...numbers, mountPath)).toBe(await onNode(...numbers, path));
      const open = 'import os, sys; os.close(os.open(sys.argv[1], os.O_RDWR))';
      await home.inHub('radio', 'python3', '-c', open, mountPath);

      await run(lightHub('second', spec));
      await says('second', lacks);
      await remove('radio');
      await isReady('second');
      await remove('second');
    } finally {
      stop();
    }
  });

  test('takes its claim with it when its Hub is deleted', () =>
    until('no claim is left', async () => (await home.list('persistentvolumeclaims')).length === 0));
});
