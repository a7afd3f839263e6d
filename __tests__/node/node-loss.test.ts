import { mustKubectl, until } from '../cluster';
import { configuration, hub } from '../cluster/home';
import { install, type Pod, podsOf, signalKubelet } from '../node-cluster';
import { NodeHome } from '../node-cluster/home';
import { lightHub } from '../node-cluster/light-hub';

const UNREACHABLE = 'node.kubernetes.io/unreachable';
const WAY_OUT = 'is not ready or does not answer. Delete the node if it is gone for good.';

let home: NodeHome;

beforeAll(async () => {
  await install();
  home = await NodeHome.make('node-loss');
});

afterAll(() => signalKubelet('CONT'));

const podOf = async (name: string): Promise<Pod> =>
  (await podsOf(home.namespace)).find(({ metadata }) => metadata.name === `${name}-0`)!;

const says = (name: string, message: string) => home.ready('hub', name, { status: 'False', message });

test('a lost node is named together with the remedy, before and after the eviction of a pod; a pod that stays continues', async () => {
  // By default the pod `villa-0` and the operator would be evicted after five minutes.
  const toleration = { operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 10 };
  const tolerations = [{ ...toleration, key: UNREACHABLE }];
  await home.apply(hub('villa'), configuration('villa'));
  await home.apply(lightHub('evicted', {}, {}, { tolerations }), configuration('evicted'));
  await home.ready('hub', 'villa');
  await until('the other pod is ready', async () =>
    (await podOf('evicted')).status.containerStatuses?.every(({ ready }) => ready),
  );
  const [villa, evicted] = [await podOf('villa'), await podOf('evicted')];
  const node = villa.spec.nodeName!;

  await signalKubelet('STOP');
  const isLost = (name: string) => says(name, `The node ${node} of pod ${name}-0 ${WAY_OUT}`);
  await Promise.all([isLost('villa'), isLost('evicted')]);
  await home.event('Hub', 'villa', /^Warning PodNotReady: The node .* Delete the node/);
  // The controller of nodes takes this taint away again if no node of the cluster answers: whether a pod is
  // evicted before that is a race.
  await until('a pod is evicted', async () => {
    await mustKubectl(['taint', 'node', node, '--overwrite', `${UNREACHABLE}:NoExecute`]);
    return (await podOf('evicted')).metadata.deletionTimestamp !== undefined;
  });
  await says(
    'evicted',
    `Pod evicted-0 is to be replaced, and node ${node} does not end it: the node ${WAY_OUT}`,
  );
  await home.event(
    'Hub',
    'evicted',
    /^Warning PodNotReady: Pod evicted-0 is to be replaced, .* Delete the node/,
  );

  await signalKubelet('CONT');
  await home.ready('hub', 'villa');
  await until('the evicted pod is replaced', async () => {
    const pod = await podOf('evicted');
    return pod && pod.metadata.uid !== evicted.metadata.uid;
  });
  const { metadata, status } = await podOf('villa');
  expect(metadata.uid).toBe(villa.metadata.uid);
  expect(status.containerStatuses).toMatchObject([{ restartCount: 0 }]);
});
