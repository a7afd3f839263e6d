import { freshNamespace, until } from '../../cluster';
import { Home } from '../../cluster/home';
import { ObjectHistory } from '../../cluster/object-history';
import { startHub } from '../../cluster/onboarded-volume';
import { startTestOperator, type TestOperator } from '../../cluster/operator';
import { ConfiguredHub } from '../hub/configured-hub';

// Counts the writes to the cluster for one edit of a configuration, by a watch.

const CONFIG_MAPS = ['villa-configuration', 'villa-configuration-accepted', 'villa-configuration-last-good'];
const RESOURCE = ['hubconfiguration', 'villa'] as const;
const withLamp = (name: string) => `logger:\n  default: warning\ninput_boolean:\n  ${name}:\n`;

let home: Home;
let operator: TestOperator;
let villa: ConfiguredHub;

beforeAll(async () => {
  home = new Home(await freshNamespace('writes'));
  operator = await startTestOperator(home.namespace);
  await startHub(home, 'villa');
  villa = new ConfiguredHub(home, 'villa');
  await villa.change(withLamp('first'));
  await villa.loaded();
  await villa.connect();
});

/** Returns the numbers of writes of ConfigMaps and of the HubConfiguration during an action. */
async function writesOf(act: () => Promise<void>) {
  await operator.calm();
  const followed = await Promise.all(
    [...CONFIG_MAPS.map((name) => ['configmap', name] as const), RESOURCE].map(async ([kind, name]) => {
      const version = async () =>
        (await home.list(kind)).find(({ metadata }) => metadata.name === name)?.metadata.resourceVersion;
      return { version, before: await version(), history: await ObjectHistory.of(home, kind, name) };
    }),
  );
  await act();
  await operator.calm();
  const counts = followed.map(async ({ version, before, history: { states } }) => {
    const present = await version();
    const versions = () => states.map(({ metadata }) => metadata.resourceVersion);
    await until(
      'the watch has brought the last write',
      () => present === before || versions().at(-1) === present,
    );
    return new Set(versions()).size;
  });
  const writes = await Promise.all(counts);
  const resource = writes.pop();
  return { configMaps: writes.reduce((sum, count) => sum + count, 0), resource };
}

describe('one edit', () => {
  test('that hot reloads writes two ConfigMaps and two statuses', async () => {
    const writes = await writesOf(async () => {
      await villa.change(withLamp('second'));
      await villa.loaded();
      await villa.shows('input_boolean.second', 'off');
    });
    // The edit itself is one of the writes of the resource.
    expect(writes).toEqual({ configMaps: 2, resource: 3 });
  });

  test('that changes nothing for the hub causes no more writes than one that does', async () => {
    const writes = await writesOf(async () => {
      await villa.change(`# a comment\n${withLamp('second')}`);
      await villa.loaded();
    });
    expect(writes).toEqual({ configMaps: 2, resource: 3 });
  });

  test('without a difference causes no write, and neither does a restart of the operator', async () => {
    const writes = await writesOf(async () => {
      await operator.touch('HubConfiguration', 'villa');
      await operator.stop();
      await operator.start();
      await operator.touch('HubConfiguration', 'villa');
    });
    // The two writes are annotations by the test.
    expect(writes).toEqual({ configMaps: 0, resource: 2 });
  });
});
