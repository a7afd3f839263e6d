import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ownerReferenceTo } from '../../../operator/runtime/object-ownership';
import type { CustomResource } from '../../../operator/kinds/resource';
import { freshNamespace, kubectl, mustKubectl, until } from '../../cluster';
import { automation, configuration, Home, hub, HUB_VERSION, type Stored } from '../../cluster/home';
import { restoreOnboarded } from '../../cluster/onboarded-volume';
import { startTestOperator } from '../../cluster/operator';

// A hub in the state in which the first version of the operator left it, with the current operator.

/** Beside the blueprint, the resource has defaults that the first version stored. */
const motion = automation('h', 'motion', {
  useBlueprint: {
    path: 'homeassistant/motion_light.yaml',
    input: { motion_entity: 'binary_sensor.hall', light_target: { entity_id: 'light.hall' } },
  },
  triggers: null,
  actions: null,
  mode: 'single',
  maxExceeded: 'warning',
});

let home: Home;
let pod: Stored['metadata'];

const podOf = async () => (await home.get('pod', 'h-0')).metadata;
const started = async () =>
  (await home.events('Pod', 'h-0')).filter((event) => event.includes('Started container hub')).length;
const storedAutomations = async () => readFile(join(await home.volumeOf('h'), 'automations.yaml'), 'utf8');

beforeAll(async () => {
  home = new Home(await freshNamespace('stored-objects'));
  const { namespace } = home;
  await restoreOnboarded(home, 'h');
  await home.apply(hub('h'), configuration('h'), motion);
  const text = await readFile(join(__dirname, 'stored-objects.yaml'), 'utf8');
  const input = text.replaceAll('VERSION', HUB_VERSION);
  await mustKubectl(['apply', '--server-side', '--field-manager=hub-operator', '--filename=-'], {
    namespace,
    input,
  });
  for (const [kind, name, owner] of [
    ['pvc', 'h-config', await home.get('hub', 'h')],
    ['statefulset', 'h', await home.get('hub', 'h')],
    ['configmap', 'h-configuration', await home.get('hubconfiguration', 'h')],
  ] as const) {
    const ownerReferences = [ownerReferenceTo(owner as unknown as CustomResource)];
    const patch = JSON.stringify({ metadata: { ownerReferences } });
    await mustKubectl(['patch', kind, name, '--type=merge', `--patch=${patch}`], { namespace });
  }
  await until('the hub runs in the pod of the first version', async () => {
    const { stdout } = await kubectl(['wait', 'pod/h-0', '--for=condition=Ready', '--timeout=1s'], {
      namespace,
    });
    return stdout.includes('condition met');
  });
  pod = await podOf();
});

test('is restarted once for its new pod, which an event names, and is Ready', async () => {
  const operator = await startTestOperator(home.namespace);
  await home.event('Hub', 'h', /^Normal HubRestarting: /);
  await until('the pod is replaced', async () => (await podOf()).uid !== pod.uid);
  for (const kind of ['hub', 'hubconfiguration']) await home.ready(kind, 'h');
  await home.ready('hubautomation', 'motion');
  await operator.calm();
  const { uid } = await podOf();
  expect((await home.get('configmap', 'h-configuration')).data!['configuration.yaml']).toContain(
    'hub_operator',
  );
  // An operator that loses no state does not restart a hub again.
  await operator.stop();
  await operator.start();
  await home.annotate('hubconfiguration', 'h', 'hub-operator.dev/reconcile-requested-at=after-the-upgrade');
  await operator.calm();
  expect(await podOf()).toMatchObject({ uid });
  expect(await started()).toBe(2);
});

test('has the mode of the blueprint again after the stored defaults are removed', async () => {
  expect(await storedAutomations()).toMatch(/mode: single/);
  const patch = '{"spec":{"mode":null,"maxExceeded":null}}';
  await mustKubectl(['patch', 'hubautomation', 'motion', '--type=merge', '-p', patch], {
    namespace: home.namespace,
  });
  await until('the hub has neither field', async () => !/mode|max_exceeded/.test(await storedAutomations()));
  await home.ready('hubautomation', 'motion');
});
