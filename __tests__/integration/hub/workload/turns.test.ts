import { getConfig } from '../../../../operator/client/setup/core';
import { freshNamespace, mustKubectl, until } from '../../../cluster';
import { addCustomIntegration } from '../../../cluster/custom-integration';
import { configuration, Home, hub } from '../../../cluster/home';
import { restoreOnboarded } from '../../../cluster/onboarded-volume';
import { startTestOperator, type TestOperator } from '../../../cluster/operator';

// Two real hubs, and a newer version of the operator that changes the pod template of both.

/** Seconds in which a hub answers but has not finished its start. */
const SLOW = 8;
const hubs = ['first', 'second'] as const;

let home: Home;
let operator: TestOperator;

beforeAll(async () => {
  home = new Home(await freshNamespace('turns'));
  operator = await startTestOperator(home.namespace);
  for (const name of hubs) {
    const volume = await restoreOnboarded(home, name);
    await addCustomIntegration(volume, 'slow', `await asyncio.sleep(${SLOW})`, 'return True');
    await home.apply(hub(name), configuration(name, 'logger:\n  default: warning\nslow:\n'));
  }
  for (const name of hubs) await home.ready('hubconfiguration', name);
});

const podUid = async (name: string) => (await home.get('pod', `${name}-0`)).metadata.uid;
const generation = async (name: string) => (await home.get('statefulset', name)).metadata.generation;
const isPodReady = async (name: string) =>
  (await home.get('pod', `${name}-0`)).status?.conditions?.some(
    ({ type, status }) => type === 'Ready' && status === 'True',
  );
const isReady = async (name: string) => (await home.condition('hub', name))?.status === 'True';
const each = async <T>(read: (name: string) => Promise<T>) =>
  Object.fromEntries(await Promise.all(hubs.map(async (name) => [name, await read(name)] as const)));

test('are restarted one after another: the second when the first has started', async () => {
  await operator.stop();
  const before = await each(podUid);
  // Simulates a former version that had another value in one of the operator's fields.
  for (const name of hubs)
    await mustKubectl([
      ...['patch', 'statefulset', name, '-n', home.namespace, '--type=json', '-p'],
      JSON.stringify([
        { op: 'replace', path: '/spec/template/spec/terminationGracePeriodSeconds', value: 1_000 },
        { op: 'replace', path: '/metadata/annotations/hub-operator.dev~1last-applied-hash', value: 'former' },
      ]),
    ]);
  for (const name of hubs)
    await until(
      `${name} runs with the former template`,
      async () => (await podUid(name)) !== before[name] && (await isPodReady(name)),
    );
  const [former, patched] = [await each(podUid), await each(generation)];
  const changed = async () => {
    const now = await each(generation);
    return hubs.filter((name) => now[name] !== patched[name]);
  };
  await operator.start();
  const [first] = await until('one of them restarts', async () => {
    const now = await changed();
    return now.length > 0 && now;
  });
  const second = hubs.find((name) => name !== first)!;
  await until('the other one restarts', async () => (await changed()).length === 2);
  expect(await podUid(first!)).not.toBe(former[first!]);
  // The operator asks the hub whether it has started; the status of the Hub may follow later.
  expect(await getConfig((await home.client(first!)).rest)).toMatchObject({ state: 'RUNNING' });
  const present = await podUid(first!);
  await until(
    'the other one has started',
    async () => (await podUid(second)) !== former[second] && (await isReady(second)),
  );
  await operator.calm();
  expect(await podUid(first!)).toBe(present);
  // Each template has changed once.
  for (const name of hubs) expect(await generation(name)).toBe(Number(patched[name]) + 1);
});
