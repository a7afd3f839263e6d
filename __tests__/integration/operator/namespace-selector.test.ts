import { freshNamespace, mustKubectl, until } from '../../cluster';
import { floor, Home } from '../../cluster/home';
import { startTestOperator, type TestOperator } from '../../cluster/operator';

// WATCH_NAMESPACE_SELECTOR: namespaces get and lose the label while the operator runs.

let operator: TestOperator;
let labelled: Home;
let other: Home;
let label: string;

const setLabel = (home: Home, value: string) =>
  mustKubectl(['label', 'namespace', home.namespace, value, '--overwrite']);

beforeAll(async () => {
  labelled = new Home(await freshNamespace('selected'));
  other = new Home(await freshNamespace('unselected'));
  label = `hub-operator-test=${labelled.namespace}`;
  await setLabel(labelled, label);
  operator = await startTestOperator(labelled.namespace, {
    settings: { WATCH_NAMESPACES: '', WATCH_NAMESPACE_SELECTOR: label },
  });
});

const attic = (name: string) => floor('villa', name, { name });
const waits = (home: Home, name: string) =>
  home.ready('HubFloor', name, { status: 'False', reason: 'HubNotFound' });
const conditionsOf = async (home: Home, name: string) =>
  (await home.get('HubFloor', name)).status?.conditions ?? [];

test('only resources in namespaces with the label are reconciled, and a label needs no restart', async () => {
  await other.apply(attic('first'));
  await labelled.apply(attic('first'));
  await waits(labelled, 'first');
  await operator.calm();
  expect(await conditionsOf(other, 'first')).toEqual([]);

  await setLabel(other, label);
  await waits(other, 'first');
  await other.apply(attic('second'));
  await waits(other, 'second');

  await setLabel(other, 'hub-operator-test-');
  const knownFloors = () => operator.metric('hub_operator_cached_objects', 'kind="HubFloor"');
  await until('the operator knows that it has lost it', async () => (await knownFloors()) === 1);
  await other.apply(attic('third'));
  await labelled.apply(attic('third'));
  await waits(labelled, 'third');
  await operator.calm();
  expect(await conditionsOf(other, 'third')).toEqual([]);
  expect(await conditionsOf(other, 'first')).not.toEqual([]);
});

test('a namespace that loses the label, and gets it again, leaves all statuses as they were', async () => {
  const hub = {
    apiVersion: 'hub-operator.dev/v1',
    kind: 'Hub',
    metadata: { name: 'villa' },
    spec: { external: { url: 'http://192.0.2.1:8123', tokenSecretRef: { name: 'missing' } } },
  };
  const home = new Home(await freshNamespace('reselected'));
  await setLabel(home, label);
  await home.apply(hub, attic('first'));
  const known = () => operator.metric('hub_operator_cached_objects', 'kind="Hub"');
  await until('the Hub is known', async () => (await known()) === 1);
  await until('the floor waits for its Hub', async () =>
    (await conditionsOf(home, 'first')).some(({ reason }) => reason !== 'HubNotFound'),
  );
  await operator.calm();
  const before = await home.get('HubFloor', 'first');
  await setLabel(home, 'hub-operator-test-');
  await until('the operator knows that it has lost it', async () => (await known()) === 0);
  await operator.calm();
  expect(await home.get('HubFloor', 'first')).toEqual(before);
  await setLabel(home, label);
  await until('the Hub is known again', async () => (await known()) === 1);
  await operator.calm();
  expect(await home.get('HubFloor', 'first')).toEqual(before);
});
