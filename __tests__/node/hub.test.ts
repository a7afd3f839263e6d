import { NAMESPACE } from '../../manifests/names';
import { getConfig } from '../../operator/client/setup/core';
import { operatorAnnotations } from '../../operator/kinds/annotations';
import { getEntityState } from '../../operator/client/config-entities/states';
import { kubectl, until } from '../cluster';
import { forceReconcile } from '../cluster/forced-reconcile';
import { automation, configuration, hub } from '../cluster/home';
import { ConfiguredHub } from '../integration/hub/configured-hub';
import { failedProbes, install, nodeAddress, operatorPods, podsOf, processOf, visit } from '../node-cluster';
import { NodeHome } from '../node-cluster/home';
import { wrongLoginFrom } from '../node-cluster/wrong-login';

// All tests use one hub, and run in this order.

const LOGGER = 'logger:\n  default: warning\n';
const BASE = `${LOGGER}http:
  login_attempts_threshold: 5
  ip_ban_enabled: true
input_boolean:
  first:
`;
const PORT = 8123;

let home: NodeHome;
let villa: ConfiguredHub;

const nameOf = async (entity: string) =>
  (await getEntityState(villa.client.rest, entity))?.attributes['friendly_name'];

beforeAll(async () => {
  await install();
  home = await NodeHome.make('hub');
  villa = new ConfiguredHub(home, 'villa');
  await home.apply(
    hub('villa', { service: { type: 'NodePort' } }),
    configuration('villa', BASE),
    automation('villa', 'lamp'),
  );
  await home.ready('hub', 'villa');
  await villa.loaded();
});

describe('a hub on a real node', () => {
  test('its pod runs from its image on a volume of its own, and its containers have not been started twice', async () => {
    const [pod] = await podsOf(home.namespace);
    expect(pod).toMatchObject({
      metadata: { name: 'villa-0' },
      status: {
        phase: 'Running',
        containerStatuses: [{ name: 'hub', ready: true, restartCount: 0 }],
        initContainerStatuses: [
          { name: 'prepare-config', state: { terminated: { exitCode: 0 } } },
          { name: 'unban-operator-ip', state: { terminated: { exitCode: 0 } } },
        ],
      },
    });
    expect((await home.get('persistentvolumeclaim', 'villa-config')).status).toMatchObject({
      phase: 'Bound',
    });
    expect(await home.inHub('villa', 'cat', '/config/configuration.yaml')).toContain('first:');
  });

  test('is known by its name inside the cluster, and to programs of its pod as well', async () => {
    const { status } = await home.get('hub', 'villa');
    expect(status!['url']).toBe(`http://villa.${home.namespace}.svc:8123`);
    const lookup = `import socket; print(socket.gethostbyname('villa.${home.namespace}.svc'))`;
    const address = await until('it is looked up', () => home.inHub('villa', 'python3', '-c', lookup));
    expect(address.trim()).toBe((await home.get('service', 'villa')).spec['clusterIP']);
  });

  test('a change of an automation reaches it', async () => {
    await villa.connect();
    await home.ready('hubautomation', 'lamp');
    await home.change('hubautomation', 'lamp', { alias: 'The new lamp' });
    const { status } = await home.get('hubautomation', 'lamp');
    const entity = String(status!['entityId']);
    await until('the hub has it', async () => (await nameOf(entity)) === 'The new lamp');
    await home.ready('hubautomation', 'lamp');
  });

  test('a change of its configuration is reloaded in the pod that runs', async () => {
    const before = await villa.podUid();
    const refreshed = async () =>
      (await podsOf(home.namespace))[0]!.metadata.annotations?.[operatorAnnotations.refresh];
    const refreshedBefore = await refreshed();
    await villa.change(BASE.replace('first:', 'second:'));
    await villa.loaded();
    await villa.shows('input_boolean.second', 'off');
    // Without a changed annotation a kubelet refreshes the files after a minute or two. This kubelet has a
    // shorter interval.
    expect(await refreshed()).toBeDefined();
    expect(await refreshed()).not.toBe(refreshedBefore);
    expect(await villa.status()).toMatchObject({ lastReloadMethod: 'hot-reload', changedSections: [] });
    expect(await villa.podUid()).toBe(before);
  });

  test('an automation moves into a file that the kubelet brings into the pod that runs, and a change of it as well', async () => {
    const { uid } = (await home.get('pod', 'villa-0')).metadata;
    await home.change('hub', 'villa', { delivery: 'File' });
    await until('it is delivered as a file', async () => {
      const { status } = await home.get('hubautomation', 'lamp');
      return status?.['delivery'] === 'File';
    });
    expect(await home.inHub('villa', 'cat', '/config/automations.yaml')).not.toContain('lamp');
    await home.change('hubautomation', 'lamp', { alias: 'Lamp in a file' });
    await home.ready('hubautomation', 'lamp');
    await until(
      'the hub uses it',
      async () => (await nameOf('automation.the_automation_lamp')) === 'Lamp in a file',
    );
    await home.change('hub', 'villa', { delivery: 'Api' });
    await until('it is in the file of the hub again', async () =>
      (await home.inHub('villa', 'cat', '/config/automations.yaml')).includes('Lamp in a file'),
    );
    expect((await home.get('pod', 'villa-0')).metadata.uid).toBe(uid);
  });

  test('a change that needs a restart replaces the pod', async () => {
    const before = await villa.podUid();
    await villa.change(`${BASE}homeassistant:\n  name: The villa\n`, { reloadStrategy: 'restart' });
    await villa.loaded();
    await home.ready('hub', 'villa');
    expect(await villa.podUid()).not.toBe(before);
    await villa.connect();
    await until(
      'it has the name',
      async () => (await getConfig(villa.client.rest)).location_name === 'The villa',
    );
  });

  test('wrong passwords of a visitor ban its way in, and the pod stays ready', async () => {
    const before = await villa.podUid();
    const { ports } = (await home.get('service', 'villa')).spec as { ports: readonly { nodePort: number }[] };
    const url = `http://${nodeAddress()}:${ports[0]!.nodePort}`;
    const status = async (path: string, headers = {}) => (await visit(`${url}${path}`, headers)).status;
    await until('the visitor is let in', async () => (await status('/manifest.json')) === 200);
    const wrong = { Authorization: 'Bearer wrong' };
    await until('the visitor is banned', async () => (await status('/api/config', wrong)) === 403);
    await until('it is let in nowhere', async () => (await status('/manifest.json')) === 403);
    // Longer than three failures of the readiness probe, which once led to a hub that was killed again and
    // again.
    await kubectl(['wait', '--for=condition=Ready=false', 'pod/villa-0', '--timeout=45s'], {
      namespace: home.namespace,
    });
    expect(await failedProbes(home.namespace, await podsOf(home.namespace))).toEqual([]);
    expect(await villa.podUid()).toBe(before);
    // The operator checks the bans of a healthy hub only when another reason leads to a reconcile.
    await forceReconcile(home, 'hub', 'villa');
    await until('Ready tells', async () =>
      (await home.condition('hub', 'villa'))?.message.includes('The hub has banned'),
    );
    expect((await podsOf(home.namespace))[0]!.status.containerStatuses).toMatchObject([{ restartCount: 0 }]);
  });

  test('an operator that the hub has banned by the address of its pod is let in again', async () => {
    const before = await villa.podUid();
    const [operator] = await operatorPods();
    const pid = await processOf(operator!);
    const { clusterIP } = (await home.get('service', 'villa')).spec;
    const url = `http://${String(clusterIP)}:${PORT}`;
    const count = async () => (await home.get('hub', 'villa')).status!['selfUnbanCount'];
    await until('the operator is banned', async () => {
      // The operator may have noticed the ban, and the hub may already be restarting, before the next wrong
      // password is sent.
      return (await count()) === 1 || (await wrongLoginFrom(pid, `${url}/api/config`)) === 403;
    });
    await until('the hub is well again', async () => {
      return (await count()) === 1 && (await home.condition('hub', 'villa'))?.status === 'True';
    });
    expect(await villa.podUid()).not.toBe(before);
    const [pod] = await podsOf(home.namespace);
    const { podIP } = operator!.status;
    expect(JSON.stringify(pod!.status)).toMatch(new RegExp(`removed.*${podIP}`));
    expect(await home.inHub('villa', 'cat', '/config/ip_bans.yaml')).not.toContain(podIP);
    await until('it is let in', async () => (await wrongLoginFrom(pid, `${url}/api/config`)) === 401);
  });

  test('the operator was not started again meanwhile, and no probe of it has failed', async () => {
    expect(await operatorPods()).toMatchObject([
      { status: { containerStatuses: [{ ready: true, restartCount: 0 }] } },
    ]);
    expect(await failedProbes(NAMESPACE, await operatorPods())).toEqual([]);
  });
});
