import { setTimeout as sleep } from 'node:timers/promises';
import { NAMESPACE, OPERATOR } from '../../../manifests/names';
import { installOperator, type OperatorProcess, startOperator } from '../../../sandbox/operator-process';
import { until } from '../../cluster';
import { automation, hub, type Manifest } from '../../cluster/home';
import { StandInHub } from '../../cluster/stand-in-hub';
import { OwnCluster } from './own-cluster';

let cluster: OwnCluster;

beforeAll(async () => {
  cluster = await OwnCluster.start();
});
afterAll(() => cluster.stop());

const definitions = async () =>
  (await cluster.must(['get', 'crd', '--output=name']))
    .split('\n')
    .filter((name) => name.includes('hub-operator'));
const image = () =>
  cluster.must([
    'get',
    `deployment/${OPERATOR}`,
    `--namespace=${NAMESPACE}`,
    '--output=jsonpath={.spec.template.spec.containers[0].image}',
  ]);

/** Writes the status of the operator's newest pods, as a kubelet would, until `stop` is called. */
function kubelet(container: object, ready: 'True' | 'False'): { stop(): Promise<void> } {
  let running = true;
  const status = (name: string) => ({
    status: {
      phase: ready === 'True' ? 'Running' : 'Pending',
      conditions: [
        { type: 'Ready', status: ready, lastTransitionTime: '2026-01-01T00:00:00Z' },
        { type: 'PodScheduled', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' },
      ],
      containerStatuses: [
        { name, ready: ready === 'True', restartCount: 0, image: '', imageID: '', state: container },
      ],
    },
  });
  const work = (async () => {
    while (running) {
      await sleep(500);
      const { stdout } = await cluster.kubectl(['get', 'pods', `--namespace=${NAMESPACE}`, '--output=name']);
      for (const pod of stdout.split('\n').filter((name) => name !== ''))
        await cluster.kubectl([
          'patch',
          pod,
          `--namespace=${NAMESPACE}`,
          '--subresource=status',
          '--type=merge',
          `--patch=${JSON.stringify(status('operator'))}`,
        ]);
    }
  })();
  return {
    async stop() {
      running = false;
      await work;
    },
  };
}

const isGone = async () => {
  await cluster.kubectl(['wait', '--for=delete', `namespace/${NAMESPACE}`, '--timeout=240s']);
  expect(await definitions()).toEqual([]);
  const installed = ['get', 'clusterroles,validatingadmissionpolicies,validatingwebhookconfigurations'];
  expect(await cluster.must([...installed, '--output=name'])).not.toContain('hub-operator');
};

describe('make deploy and make undeploy', () => {
  describe('deploy', () => {
    test('without a terminal it names the cluster and installs nothing', async () => {
      const { code, output } = await cluster.run('deploy', { IMAGE: 'registry.example.org/hub-operator:1' });
      expect(code).toBe(1);
      expect(output).toContain(`server   ${cluster.sandbox.apiServer} (Kubernetes v1.`);
      expect(output).toContain('context  hub-sandbox');
      expect(output).toContain('image    registry.example.org/hub-operator:1');
      expect(output).toContain('YES=1 answers yes in a script.');
      expect(await definitions()).toEqual([]);
    });

    test('after the answer no it installs nothing', async () => {
      const { code, output } = await cluster.run('deploy', {}, 'n');
      expect([code, output]).toEqual([1, expect.stringContaining('Nothing was changed.')]);
      expect(await definitions()).toEqual([]);
    });

    test('after the answer yes it installs, and a rollout that fails says why', async () => {
      const waiting = {
        reason: 'ImagePullBackOff',
        message: 'Back-off pulling image "nowhere.example/it:1"',
      };
      const node = kubelet({ waiting }, 'False');
      const { code, output } = await cluster.run(
        'deploy',
        { IMAGE: 'nowhere.example/it:1', TIMEOUT: '60' },
        'y',
      );
      await node.stop();
      expect(code).toBe(1);
      expect(output).toContain('The operator was installed, but is not ready after 60 s.');
      expect(output).toMatch(/pod\/hub-operator-\S+ +0\/1 +ImagePullBackOff/);
      expect(await image()).toBe('nowhere.example/it:1');
      expect(await definitions()).not.toEqual([]);
    });

    test('a field that another manager has set is taken over only with FORCE=1', async () => {
      const theirs = {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: OPERATOR, namespace: NAMESPACE },
        spec: { template: { spec: { containers: [{ name: 'operator', image: 'theirs.example/it:2' }] } } },
      };
      await cluster.must(
        ['apply', '--server-side', '--force-conflicts', '--field-manager=gitops', '--filename=-'],
        JSON.stringify(theirs),
      );
      const refused = await cluster.run('deploy', { YES: '1', TIMEOUT: '1' });
      expect(refused.code).toBe(1);
      expect(refused.output).toContain(
        'If a GitOps tool or Helm installs the operator here, change it there.',
      );
      expect(await image()).toBe('theirs.example/it:2');
    });

    test('with YES=1 and FORCE=1 it updates without a question, waits for the rollout and says what to do next', async () => {
      const node = kubelet({ running: {} }, 'True');
      const { code, output } = await cluster.run('deploy', { YES: '1', FORCE: '1', TIMEOUT: '240' });
      await node.stop();
      expect(output).toContain('The operator is ready.');
      expect(code).toBe(0);
      expect(await image()).toMatch(/^registry\.invalid\//);
    });
  });

  describe('undeploy', () => {
    let operator: OperatorProcess | undefined;
    let standIn: StandInHub;

    beforeAll(async () => {
      standIn = await StandInHub.start();
    });
    afterAll(() => operator?.process.stop());

    const apply = (...objects: readonly object[]) =>
      cluster.must(
        ['apply', '--filename=-'],
        JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects.map(inHome) }),
      );
    const inHome = (object: object) => {
      const { metadata, ...rest } = object as Manifest;
      return { ...rest, metadata: { ...metadata, namespace: 'home' } };
    };
    const claim = (name: string) =>
      cluster.find<{ metadata: { ownerReferences?: object[] } }>('pvc', name, '--namespace=home');
    const retain = { storage: { retain: true } };

    /**
     * Creates two Hubs in the cluster and an external one, each with an automation, all reconciled by a
     * running operator.
     */
    async function home(): Promise<void> {
      await installOperator(cluster.sandbox);
      await cluster.kubectl(['create', 'namespace', 'home']);
      operator = await startOperator(cluster.sandbox, { settings: { ALLOW_LOCAL_HUBS: 'true' } });
      const labels = { 'hub-operator.dev/hub': 'cottage' };
      await apply(
        {
          apiVersion: 'v1',
          kind: 'Secret',
          metadata: { name: 'cottage', labels },
          stringData: { token: 'any' },
        },
        {
          ...hub('cottage'),
          spec: { external: { url: standIn.url, tokenSecretRef: { name: 'cottage' } } },
        },
        hub('flat'),
        hub('villa'),
        ...['cottage', 'flat', 'villa'].map((name) => automation(name, `in-${name}`)),
      );
      await cluster.must([
        'wait',
        '--for=condition=Ready',
        'haauto/in-cottage',
        '--namespace=home',
        '--timeout=240s',
      ]);
      const has = async (kind: string, name: string) => {
        const found = await cluster.find<{ metadata: { finalizers?: string[] } }>(
          kind,
          name,
          '--namespace=home',
        );
        return found?.metadata.finalizers !== undefined;
      };
      for (const name of ['flat', 'villa']) {
        await until(`Hub ${name} has its claim`, async () => (await claim(`${name}-config`)) !== undefined);
        await until(`Hub ${name} has its finalizer`, () => has('hub', name));
      }
    }

    const retainVolumeOfVilla = () =>
      cluster.must([
        'patch',
        'hub',
        'villa',
        '--namespace=home',
        '--type=merge',
        `--patch=${JSON.stringify({ spec: retain })}`,
      ]);

    /** Returns the number of automations in the external hub. */
    const automationsInHub = async () =>
      ((await (await fetch(`${standIn.url}/bench`)).json()) as { automations: number }).automations;

    test('without a terminal it lists the Hubs and what happens to their volumes, and deletes nothing', async () => {
      await home();
      await retainVolumeOfVilla();
      const { code, output } = await cluster.run('undeploy');
      expect(code).toBe(1);
      expect(output).toContain(`server   ${cluster.sandbox.apiServer}`);
      expect(output).toMatch(/home\/cottage +runs outside of the cluster and goes on running/);
      expect(output).toMatch(/home\/flat +the claim flat-config is DELETED, with all data of the hub/);
      expect(output).toMatch(/home\/villa +the claim villa-config stays \(storage\.retain\)/);
      expect(output).toContain('3 other resources');
      expect(output).toContain(`kubectl -n home patch hub flat --type=merge`);
      expect(output).toContain('Nothing was deleted');
      const refused = await cluster.run('undeploy', {}, 'n');
      expect([refused.code, refused.output]).toEqual([1, expect.stringContaining('Nothing was deleted.')]);
      expect(await cluster.must(['get', 'home', '--namespace=home', '--output=name'])).toMatch(
        /^(\S+\n){6}$/,
      );
    });

    test('with a running operator it removes the operator’s objects from external hubs, then everything else, and keeps the volume', async () => {
      expect(await automationsInHub()).toBe(1);
      const { code, output } = await cluster.run('undeploy', { TIMEOUT: '240' }, 'y');
      expect(output).not.toContain('finalizers');
      expect([code, output]).toEqual([0, expect.stringContaining('Deleted the operator')]);
      expect(await automationsInHub()).toBe(0);
      await isGone();
      await until(
        'the claim of the Hub without retain is deleted',
        async () => (await claim('flat-config')) === undefined,
      );
      expect((await claim('villa-config'))!.metadata.ownerReferences).toBeUndefined();
      await operator!.process.kill();
    });

    test('when nothing is left it says so and does not ask', async () => {
      const { code, output } = await cluster.run('undeploy');
      expect([code, output]).toEqual([
        0,
        expect.stringContaining('Nothing of the operator is in the cluster'),
      ]);
    });

    test('without the operator it ends and names the resources that wait; FORCE=1 removes them, and the volume stays', async () => {
      await home();
      await operator!.process.kill();
      // The annotation is set while no operator runs, so that the Hub is still an owner of the claim.
      await retainVolumeOfVilla();
      // The lease of a killed leader would be valid for 15 s more.
      await cluster.must(['delete', 'lease', OPERATOR, `--namespace=${NAMESPACE}`]);
      const { code, output } = await cluster.run('undeploy', { YES: '1', TIMEOUT: '3' });
      expect(code).toBe(1);
      expect(output).toMatch(/HubAutomation home\/in-cottage \(hub-operator\.dev\/hubautomation\)/);
      expect(output).toContain('FORCE=1 removes these finalizers');
      const forced = await cluster.run('undeploy', { YES: '1', FORCE: '1', TIMEOUT: '3' });
      expect([forced.code, forced.output]).toEqual([0, expect.stringContaining('Deleted the operator')]);
      // The garbage collector may not know kinds that were installed again a moment ago.
      expect(await cluster.find('statefulset', 'flat', '--namespace=home')).toBeUndefined();
      await isGone();
      await until(
        'the claim of the Hub without retain is deleted',
        async () => (await claim('flat-config')) === undefined,
      );
      expect((await claim('villa-config'))!.metadata.ownerReferences).toBeUndefined();
      expect(await automationsInHub()).toBe(1); // the automation stays in the external hub
    });

    const stuck = (name: string, ...finalizers: string[]) => ({
      ...automation('none', name),
      metadata: { name, finalizers },
    });

    test('completes a deletion that hangs because the operator and the namespace were deleted before the kinds', async () => {
      await installOperator(cluster.sandbox);
      await apply(stuck('left', 'hub-operator.dev/hubautomation'));
      await cluster.must(['delete', 'namespace', NAMESPACE, '--wait=false']);
      await cluster.must([
        'delete',
        'crd',
        '--wait=false',
        ...(await definitions()).map((name) => name.split('/')[1]!),
      ]);
      const { code, output } = await cluster.run('undeploy', { YES: '1', FORCE: '1', TIMEOUT: '3' });
      expect([code, output]).toEqual([0, expect.stringContaining('Deleted the operator')]);
      await isGone();
    });

    test('leaves finalizers of other controllers, and says who holds a resource', async () => {
      await installOperator(cluster.sandbox);
      await apply(stuck('held', 'hub-operator.dev/hubautomation', 'example.org/backup'));
      const { code, output } = await cluster.run('undeploy', { YES: '1', FORCE: '1', TIMEOUT: '3' });
      expect(code).toBe(1);
      expect(output).toContain(
        'held by finalizers of other controllers, which have to release them:\n  HubAutomation home/held (hub-operator.dev/hubautomation, example.org/backup)',
      );
      await cluster.must([
        'patch',
        'haauto',
        'held',
        '--namespace=home',
        '--type=merge',
        '--patch={"metadata":{"finalizers":null}}',
      ]);
      expect((await cluster.run('undeploy', { YES: '1' })).code).toBe(0);
      await isGone();
    });

    test('removes the roles in namespaces that a namespaced operator has watched', async () => {
      await cluster.must(['apply', '--namespace=home', '--filename=dist/watched-namespace/roles.yaml']);
      const { code, output } = await cluster.run('undeploy', { YES: '1' });
      expect([code, output]).toEqual([0, expect.stringContaining('Deleted the operator')]);
      expect(await cluster.must(['get', 'roles,rolebindings', '--namespace=home', '--output=name'])).toBe('');
    });
  });
});
