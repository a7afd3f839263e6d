import { randomBytes } from 'node:crypto';
import { objectNames } from '../../../operator/kinds/object-names';
import { getConfig } from '../../../operator/client/setup/core';
import { prepareReport } from '../../../operator/sync/hub-pod/termination-messages';
import { freshNamespace, kubectl, until } from '../../cluster';
import { ApiProxy, type Crossing } from '../../cluster/api-proxy';
import { configuration, Home, hub } from '../../cluster/home';
import { restoreOnboarded } from '../../cluster/onboarded-volume';
import { startTestOperator, type TestOperator } from '../../cluster/operator';
import { ConfiguredHub } from '../hub/configured-hub';

// A home that is too large for one ConfigMap: 120 packages and 1.2 MB, in a user's ConfigMaps.

const MAIN = 'homeassistant:\n  packages: !include_dir_named packages\n';
const PACKAGES = 120;

/** Random text, because comments of a real home cannot be compressed like one repeated letter. */
const COMMENT = `# ${randomBytes(7_500).toString('base64')}\n`;
const room = (name: string, text: string) => `${COMMENT}input_boolean:\n  ${name}: {name: "${text}"}\n`;

/** Milliseconds, longer than the kubelet of the tests takes to show a changed ConfigMap in a pod. */
const VOLUME_REFRESH = 8_000;

const nameOf = (index: number) => `room_${index}`;
/** Files of rooms whose content differs from the default. */
type Changes = Readonly<Record<string, string>>;

const rooms = (changes: Changes = {}, count = PACKAGES) =>
  Array.from({ length: count }, (_, index) => nameOf(index)).map(
    (name) => [`${name}.yaml`, changes[name] ?? room(name, name)] as const,
  );

const configMap = (name: string, data: Readonly<Record<string, string>>) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data,
});

const MAPS = 6;
/** Returns the packages in ConfigMaps as Kustomize generates them. */
const given = (changes?: Changes, count?: number) =>
  Array.from({ length: MAPS }, (_, map) =>
    configMap(
      `rooms-${map}`,
      Object.fromEntries(rooms(changes, count).filter((_entry, index) => index % MAPS === map)),
    ),
  );
const FROM = Array.from({ length: MAPS }, (_, map) => ({
  configMapRef: { name: `rooms-${map}` },
  folder: 'packages',
}));

let home: Home;
let operator: TestOperator;
let proxy: ApiProxy;
let villa: ConfiguredHub;
/** Names of the ConfigMaps that the operator wrote, in order. */
let written: string[];
let onWrite: (name: string) => Promise<'on' | 'drop'>;
const letPass = () => Promise.resolve('on' as const);

const names = objectNames('villa');
const parts = names.configurationParts();

/** Whether writes of the pod template are dropped, so that the pod stays. */
let isPodKept = false;

async function gate(moment: 'before' | 'after', { method, path }: Crossing): Promise<'on' | 'drop'> {
  if (isPodKept && method === 'PATCH' && path.endsWith('/statefulsets/villa')) return 'drop';
  const [, name] = /\/configmaps\/([^/]+)$/.exec(path) ?? [];
  if (method === 'GET' || name === undefined || moment === 'before') return 'on';
  written.push(name);
  return onWrite(name);
}

const shows = (name: string, text: string) =>
  villa.showsAttribute(`input_boolean.${name}`, 'friendly_name', text);

const present = async (): Promise<readonly string[]> => {
  const { stdout } = await kubectl(['get', 'configmaps', '--output=name'], { namespace: home.namespace });
  return parts.filter((part) => stdout.split('\n').includes(`configmap/${part}`));
};

const partDigests = () =>
  Promise.all(
    parts.map(async (part) => {
      const { data = {} } = await home.get('configmap', part);
      return Object.entries(data).find(([key]) => key.startsWith('-hub--operator-s'))![1];
    }),
  );

/** Returns the report of the pod's init container. */
async function startOfPod() {
  return prepareReport((await home.get('pod', 'villa-0')) as never);
}

beforeAll(async () => {
  written = [];
  onWrite = letPass;
  home = new Home(await freshNamespace('parts'));
  proxy = await ApiProxy.start(gate);
  operator = await startTestOperator(home.namespace, { kubeconfig: proxy.kubeconfig });
  await restoreOnboarded(home, 'villa');
  await home.apply(...given());
  await home.apply(configuration('villa', MAIN, { filesFrom: FROM }), hub('villa'));
  villa = new ConfiguredHub(home, 'villa');
});
afterAll(() => proxy.stop());

describe('a configuration that is too large for one ConfigMap', () => {
  test('reaches the hub in parts, which belong to the Hub', async () => {
    await villa.loaded();
    await villa.connect();
    for (const index of [0, 17, 60, PACKAGES - 1]) await shows(nameOf(index), nameOf(index));
    expect(await present()).toEqual(parts);
    const { metadata } = await home.get('configmap', parts[0]!);
    expect(metadata.ownerReferences).toEqual([expect.objectContaining({ kind: 'Hub', name: 'villa' })]);
  });

  test('one changed package is loaded without a restart, and only one part is written', async () => {
    const pod = await villa.podUid();
    await operator.calm();
    written = [];
    await home.apply(...given({ room_7: room('room_7', 'changed') }));
    await shows('room_7', 'changed');
    await operator.calm();
    expect(await villa.status()).toMatchObject({ lastReloadMethod: 'hot-reload' });
    expect(await villa.podUid()).toBe(pod);
    expect(written.filter((name) => parts.includes(name))).toHaveLength(1);
    // The last write is the record of the parts.
    expect(written.filter((name) => name === names.configuration)).toHaveLength(1);
  });

  test('packages of several parts change at once', async () => {
    const changes = Object.fromEntries(
      [1, 2, 3, 4, 5, 6].map((index) => [nameOf(index), room(nameOf(index), 'six')]),
    );
    await home.apply(...given(changes));
    for (const index of [1, 2, 3, 4, 5, 6]) await shows(nameOf(index), 'six');
    await operator.calm();
    expect(await villa.status()).toMatchObject({ lastReloadMethod: 'hot-reload' });
  });

  test('a broken package is named, and the home continues as it was', async () => {
    const pod = await villa.podUid();
    await home.apply(...given({ room_7: `${COMMENT}input_boolean:\n  room_7: {initial: maybe}\n` }));
    const { message } = await home.ready('hubconfiguration', 'villa', {
      status: 'False',
      reason: 'CheckFailed',
    });
    expect(message).toContain('packages/room_7.yaml');
    await home.apply(...given({ room_8: room('room_8', 'after') }));
    await shows('room_8', 'after');
    await villa.loaded();
    expect(await villa.podUid()).toBe(pod);
  });

  test('the operator may end after each of its writes', async () => {
    for (const killed of [parts, [names.configuration], [names.acceptedConfiguration]]) {
      let isKilled = false;
      onWrite = async (name) => {
        if (!killed.includes(name)) return 'on';
        onWrite = letPass;
        await operator.kill();
        isKilled = true;
        return 'drop';
      };
      const text = `killed after ${killed[0]!}`;
      await home.apply(...given({ room_9: room('room_9', text) }));
      await until('the operator has ended', () => Promise.resolve(isKilled));
      await operator.start();
      await shows('room_9', text);
      await villa.loaded();
    }
  });

  test('a part that a user deletes is restored', async () => {
    await home.delete('configmap', parts[3]!);
    await until('it is there', async () => (await present()).includes(parts[3]!));
    await operator.calm();
  });

  test('the hub starts with its parts when its HubConfiguration is gone', async () => {
    await home.delete('hubconfiguration', 'villa');
    await until('its ConfigMap is gone', async () => {
      const { stdout } = await kubectl(['get', 'configmaps', '--output=name'], { namespace: home.namespace });
      return !stdout.split('\n').includes(`configmap/${names.configuration}`);
    });
    expect(await present()).toEqual(parts);
    await home.delete('pod', 'villa-0');
    await until('the hub has its files', async () => {
      await villa.connect();
      await shows('room_9', `killed after ${names.acceptedConfiguration}`);
      return true;
    });
    await home.apply(configuration('villa', MAIN, { filesFrom: FROM }));
    await villa.loaded();
  });

  test('one that is deleted before it is accepted leaves the parts of the last accepted one, and no start waits for its own', async () => {
    const text = `killed after ${names.acceptedConfiguration}`;
    let isKilled = false;
    onWrite = async (name) => {
      if (!parts.includes(name)) return 'on';
      onWrite = letPass;
      await operator.kill();
      isKilled = true;
      return 'drop';
    };
    await operator.calm();
    const digests = await partDigests();
    await home.apply(...given({ room_9: room('room_9', 'never accepted') }));
    await until('the operator has ended', () => Promise.resolve(isKilled));
    expect(await partDigests()).not.toEqual(digests);
    await home.delete('hubconfiguration', 'villa');
    await until('its ConfigMap is gone', async () => !(await home.exists('configmap', names.configuration)));
    await operator.start();
    await until('the parts are those of the accepted one', async () => {
      expect(await partDigests()).toEqual(digests);
      return true;
    });
    await home.delete('pod', 'villa-0');
    await until('the hub has its files', async () => {
      await villa.connect();
      await shows('room_9', text);
      return true;
    });
    expect(await startOfPod()).toMatchObject({ result: 'unchanged', content: expect.anything() });
    await home.apply(configuration('villa', MAIN, { filesFrom: FROM }));
    await villa.loaded();
    await villa.connect();
    await shows('room_9', 'never accepted');
  });

  test('one that becomes invalid before it is published leaves the parts of the last accepted one', async () => {
    await operator.calm();
    const digests = await partDigests();
    let isKilled = false;
    onWrite = async (name) => {
      if (!parts.includes(name)) return 'on';
      onWrite = letPass;
      await operator.kill();
      isKilled = true;
      return 'drop';
    };
    await home.apply(...given({ room_9: room('room_9', 'never published') }));
    await until('the operator has ended', () => Promise.resolve(isKilled));
    await home.apply(...given({ room_9: 'input_boolean: [' }));
    await operator.start();
    await home.ready('hubconfiguration', 'villa', { status: 'False', reason: 'InvalidConfiguration' });
    expect(await partDigests()).toEqual(digests);
    await home.apply(...given({ room_9: room('room_9', 'valid') }));
    await shows('room_9', 'valid');
    await villa.loaded();
  });

  test('one that has become small is in one ConfigMap again', async () => {
    await home.apply(...given({ room_9: room('room_9', 'small') }, 12));
    await villa.loaded();
    await until('the parts are gone', async () => (await present()).length === 0);
    await villa.connect();
    await shows('room_11', 'room_11');
    // The former parts have a file of that name too.
    await shows('room_9', 'small');
    expect(await operator.failures()).toEqual([]);
  });

  test('a user’s ConfigMap with the name of a part blocks a large configuration, and its files never reach a hub', async () => {
    await home.apply(configMap(parts[3]!, { 'configuration.yaml': 'logger:\n', 'other.yaml': '' }));
    // The hub may load some of these ConfigMaps before the last of them makes the configuration a large one.
    await home.apply(...given({ room_9: room('room_9', 'small') }));
    const { message } = await home.ready('hubconfiguration', 'villa', {
      status: 'False',
      reason: 'NameConflict',
    });
    expect(message).toContain(
      `ConfigMap ${home.namespace}/${parts[3]!} exists and does not belong to Hub villa`,
    );
    await home.delete('pod', 'villa-0');
    await villa.connect();
    await shows('room_9', 'small');
    await home.delete('configmap', parts[3]!);
    await villa.loaded();
    await villa.connect();
    await shows(nameOf(PACKAGES - 1), nameOf(PACKAGES - 1));
  });

  test('a small one that is rejected leaves the hub with its parts, and a large one leaves it with none', async () => {
    // One ConfigMap alone makes the configuration large, so that the hub loads nothing in between: without it
    // the packages are just small enough.
    const beside = Object.fromEntries(rooms().filter((_entry, index) => index % MAPS === 1));
    const change = (text: string, others = {}) =>
      home.apply(configMap('rooms-1', { ...others, 'room_7.yaml': text }));
    const broken = `${COMMENT}input_boolean:\n  room_7: {initial: maybe}\n`;
    const rejected = { status: 'False', reason: 'CheckFailed' } as const;
    await change(broken);
    await home.ready('hubconfiguration', 'villa', rejected);
    await villa.connect();
    for (const name of ['room_7', 'room_13', nameOf(PACKAGES - 1)]) await shows(name, name);
    await change(room('room_7', 'alone'));
    await until('the parts are gone', async () => (await present()).length === 0);
    await villa.connect();
    await shows('room_7', 'alone');
    await change(broken, beside);
    await home.ready('hubconfiguration', 'villa', rejected);
    await villa.connect();
    await shows('room_7', 'alone');
    await change(room('room_7', 'back'));
    await villa.loaded();
    await villa.connect();
    await shows('room_7', 'back');
    await until('the parts are gone', async () => (await present()).length === 0);
  });

  test('a hub that restarts itself before its pod is replaced has the former content, from one ConfigMap to parts and back', async () => {
    const beside = Object.fromEntries(rooms().filter((_entry, index) => index % MAPS === 1));
    const change = (text: string, others = {}) =>
      home.apply(configMap('rooms-1', { ...others, 'room_7.yaml': room('room_7', text) }));
    const isLarge = async () => {
      const { data = {} } = await home.get('configmap', names.configuration);
      return data['.files']!.includes('"parts":');
    };
    for (const [before, after, others] of [
      ['back', 'grown', beside],
      ['grown', 'shrunk', {}],
    ] as const) {
      const pod = await villa.podUid();
      isPodKept = true;
      await change(after, others);
      await until('it is published', async () => (await isLarge()) === (others === beside));
      await new Promise((resolve) => setTimeout(resolve, VOLUME_REFRESH));
      await home.signal('villa', 'SIGKILL');
      await until('the hub is back', async () => {
        await villa.connect();
        const { recovery_mode, state } = await getConfig(villa.client.rest);
        expect(recovery_mode).toBe(false);
        return state === 'RUNNING';
      });
      await shows('room_7', before);
      expect(await villa.podUid()).toBe(pod);
      isPodKept = false;
      await villa.loaded();
      await villa.connect();
      await shows('room_7', after);
      expect(await villa.podUid()).not.toBe(pod);
    }
  });
});
