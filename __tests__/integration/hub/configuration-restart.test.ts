import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { getConfig } from '../../../operator/client/setup/core';
import { HubError } from '../../../operator/client/connection/errors';
import type { HubClient } from '../../../operator/client/hub-client';
import { hubStartId } from '../../../operator/client/setup/hub-start-id';
import { readHttpConfig } from '../../../operator/client/setup/http-settings';
import { callService } from '../../../operator/client/services';
import { stateOf } from '../../../operator/client/config-entities/states';
import { freshNamespace, until } from '../../cluster';
import { conditionOf, Home, hubSecrets, integration, secret } from '../../cluster/home';
import { running } from '../../cluster/http-settings';
import { MqttBroker } from '../../cluster/mqtt-broker';
import { ObjectHistory } from '../../cluster/object-history';
import { oneOfThree } from '../../cluster/one-of-three';
import { startTestOperator, type TestOperator } from '../../cluster/operator';
import { startHub } from '../../cluster/onboarded-volume';
import { ConfiguredHub } from './configured-hub';

// Changes of one configuration for which the hub restarts, with a new pod or in its container.

const BASE = 'logger:\n  default: warning\ninput_boolean:\n  first:\n';
const WITH_COUNTER = `${BASE}homeassistant:\n  name: After the crash\ncounter:\n  guests:\n`;

let home: Home;
let operator: TestOperator;
let villa: ConfiguredHub;

beforeAll(async () => {
  home = new Home(await freshNamespace('restart'));
  operator = await startTestOperator(home.namespace);
  await startHub(home, 'villa');
  villa = new ConfiguredHub(home, 'villa');
  await villa.loaded();
  await villa.connect();
});

/** Waits for the hub's own configuration, because the hub may not answer immediately after a restart. */
const configured = (expected: object) =>
  until('the hub has its configuration', async () => {
    expect(await getConfig(villa.client.rest)).toMatchObject(expected);
    return true;
  });
/**
 * Makes the hub restart itself. A hub that starts refuses or forgets such a request, so the function waits
 * before.
 */
async function restart(client: HubClient): Promise<void> {
  await running(client);
  await callService(client.rest, 'homeassistant', 'restart').catch(ignoreHubError);
}

describe('HubConfiguration', () => {
  test('core settings, customize, mqtt and a section without a reload restart the hub once, and are loaded then', async () => {
    const [before, pod] = [await villa.rollouts(), await villa.podUid()];
    const history = await ObjectHistory.of(home, 'hubconfiguration', 'villa');
    await villa.change(
      `${BASE}homeassistant:\n  name: The villa\n  customize:\n    input_boolean.first:\n      icon: mdi:tree\nmqtt:\n  sensor:\n    - name: Porch\n      state_topic: porch\ncounter:\n  visits:\n`,
    );
    await history.find('what waits for the restart is told', (state) => {
      const ready = conditionOf(state, 'Ready');
      const isTold = (state.status?.['changedSections'] as string[] | undefined)?.includes('counter');
      // The next reconcile may be late, when the pod is already terminating.
      const isRestarting = ['RestartPending', 'HubNotReady'].includes(ready?.reason ?? '');
      return ready?.status === 'False' && isRestarting && isTold && ready;
    });
    await villa.loaded();
    expect(await villa.podUid()).not.toBe(pod);
    expect(await villa.status()).toMatchObject({ lastReloadMethod: 'restart', changedSections: [] });
    const { rest } = await villa.connect();
    await configured({ location_name: 'The villa' });
    await villa.shows('counter.visits', '0');
    await villa.showsAttribute('input_boolean.first', 'icon', 'mdi:tree');
    await until('mqtt is loaded', async () => (await getConfig(rest)).components.includes('mqtt'));
    await operator.calm(); // another rollout would come within the debounce
    expect(await villa.rollouts()).toBe(before + 1);
  });

  test('20 changes of configuration and secrets within seconds are one rollout', async () => {
    // On a busy machine two changes may be further apart than the debounce, which makes two rollouts.
    await oneOfThree(
      async (attempt) => {
        const [before, pod] = [await villa.rollouts(), await villa.podUid()];
        for (let count = 1; count <= 10; count++) {
          await home.apply(
            secret('words', { word: `w${attempt}-${count}` }),
            hubSecrets('villa', 'villa', { secretRefs: [{ name: 'words' }] }),
          );
          await villa.change(
            `${BASE}homeassistant:\n  name: !secret word\n  elevation: ${10 * attempt + count}\n`,
          );
        }
        await villa.loaded();
        await villa.connect();
        await configured({ location_name: `w${attempt}-10`, elevation: 10 * attempt + 10 });
        expect(await villa.podUid()).not.toBe(pod);
        await operator.calm();
        return (await villa.rollouts()) - before;
      },
      (rollouts) => rollouts === 1,
    );
  });

  test('a restart that a mistake in the Hub blocks is not reported as begun, and follows the correction', async () => {
    const [before, pod] = [await villa.rollouts(), await villa.podUid()];
    await home.change('hub', 'villa', { podTemplate: { spec: { terminationGracePeriodSeconds: 1 } } });
    await home.ready('hub', 'villa', { status: 'False', reason: 'InvalidSpec' });
    await villa.change(`${BASE}homeassistant:\n  name: Held back\n`);
    await until('it is told what the restart waits for', async () => {
      expect(await home.condition('hubconfiguration', 'villa')).toMatchObject({
        reason: 'RestartPending',
        message:
          'The hub is to be restarted to load homeassistant. The restart has not begun: the Hub villa reports InvalidSpec. Correct what its conditions name.',
      });
      return true;
    });
    expect([await villa.rollouts(), await villa.podUid()]).toEqual([before, pod]);
    await home.change('hub', 'villa', { podTemplate: null });
    await villa.loaded();
    await villa.connect();
    await configured({ location_name: 'Held back' });
    expect(await villa.podUid()).not.toBe(pod);
    await operator.calm();
    expect(await villa.rollouts()).toBe(before + 1);
  });

  test('a needed restart happens although the operator is killed', async () => {
    const pod = await villa.podUid();
    await villa.change(`${BASE}homeassistant:\n  name: After the crash\n`);
    await until('the change is written', async () => {
      const { data } = await home.get('configmap', 'villa-configuration');
      return data!['configuration.yaml']!.includes('After the crash');
    });
    await operator.kill();
    await operator.start();
    await villa.loaded();
    await villa.connect();
    await configured({ location_name: 'After the crash' });
    expect(await villa.podUid()).not.toBe(pod);
  });

  test('under hot-reload, a restart by a user loads pending changes', async () => {
    const pod = await villa.podUid();
    await villa.change(WITH_COUNTER, {
      reloadStrategy: 'hot-reload',
    });
    await home.ready('hubconfiguration', 'villa', { status: 'False', reason: 'RestartPending' });
    await restart(villa.client);
    await villa.loaded();
    await villa.shows('counter.guests', '0');
    expect(await villa.status()).toMatchObject({ lastReloadMethod: 'restart', changedSections: [] });
    expect(await villa.podUid()).toBe(pod);
  });

  describe('the section http:', () => {
    const withProxies = (networks: string) =>
      `${WITH_COUNTER}http:\n  use_x_forwarded_for: true\n  trusted_proxies: ${networks}\n`;
    const slots = async () => (await readHttpConfig(villa.client.connection))!;
    const httpSettings = (expected: object) =>
      until(`HttpSettingsReady is ${JSON.stringify(expected)}`, async () => {
        const condition = await home.condition('hubconfiguration', 'villa', 'HttpSettingsReady');
        expect(condition).toMatchObject(expected);
        return true;
      });

    test('becomes the settings of the hub, permanently', async () => {
      const pod = await villa.podUid();
      await villa.change(withProxies('[10.0.0.0/8, 192.168.1.7]'), { reloadStrategy: 'hot-reload' });
      await home.ready('hubconfiguration', 'villa', { status: 'False', reason: 'RestartPending' });
      await httpSettings({ reason: 'RestartPending' });
      await home.change('hubconfiguration', 'villa', { reloadStrategy: 'auto' });
      await villa.loaded();
      await villa.connect();
      await httpSettings({ status: 'True', reason: 'Applied' });
      expect((await villa.status())['httpSource']).toBe('Api');
      await until('the hub has them for good', async () => {
        const { stable, pending } = await slots();
        expect(stable!.trusted_proxies).toEqual(['10.0.0.0/8', '192.168.1.7/32']);
        expect(pending).toBeNull();
        return true;
      });
      expect(await villa.podUid()).toBe(pod);
    });

    test('waits while settings of another client are on trial', async () => {
      await running(villa.client);
      const { stable } = await slots();
      const { created_at: _at, error: _error, error_message: _message, ...settings } = stable!;
      const theirs = { ...settings, use_x_frame_options: false };
      // The hub restarts for the settings, possibly before its answer arrives.
      await villa.client.connection
        .command('http/config/configure', { config: theirs })
        .catch(ignoreHubError);
      await until('the hub has them on trial', async () => (await slots()).active_config_type === 'pending');
      await home.ready('hub', 'villa');
      await villa.change(withProxies('[10.0.0.0/8]'));
      await httpSettings({ reason: 'PendingChange' });
      expect(await until('the hub answers', slots)).toMatchObject({
        pending: { use_x_frame_options: false },
      });
      let promoted = false; // the settings may be promoted although the answer was lost
      await until('they are promoted', async () => {
        if ((await slots()).active_config_type !== 'pending') return promoted;
        promoted = true;
        await villa.client.connection.command('http/config/promote');
        return true;
      });
      await until('it goes on', async () => (await slots()).stable!.trusted_proxies!.length === 1);
      await villa.loaded();
    });

    test('leaves the hub its settings when it is removed, which a condition reports until it is restored', async () => {
      const kept = { status: 'True', reason: 'Kept' };
      await villa.change(WITH_COUNTER);
      await villa.loaded();
      await httpSettings({
        ...kept,
        message: expect.stringContaining(' trusted_proxies, use_x_forwarded_for. ') as string,
      });
      await operator.kill();
      await operator.start();
      await operator.touch('HubConfiguration', 'villa');
      await httpSettings(kept);
      await villa.change(withProxies('[10.0.0.0/8]'));
      await villa.loaded();
      await httpSettings({ status: 'True', reason: 'Applied' });
    });
  });

  test('an old file that a restored backup brings is noticed, and the pod is replaced once', async () => {
    const pod = await villa.podUid();
    const pods = await ObjectHistory.of(home, 'pod', 'villa-0');
    const file = join(await home.volumeOf('villa'), 'configuration.yaml');
    await rm(file);
    await writeFile(file, 'logger:\n  default: error\nscript: !include scripts.yaml\n');
    await restart(await villa.connect());
    const next = await until('the pod is replaced', async () => {
      const uid = await villa.podUid();
      return uid !== pod && uid;
    });
    await villa.connect();
    await villa.shows('input_boolean.first', 'off');
    await villa.loaded();
    await operator.calm();
    const { resourceVersion } = (await home.get('pod', 'villa-0')).metadata;
    await pods.find('the watch has brought the present pod', ({ metadata }) =>
      metadata.resourceVersion === resourceVersion ? metadata : undefined,
    );
    expect(new Set(pods.states.map(({ metadata }) => metadata.uid))).toEqual(new Set([pod, next]));
  });

  test('a content that the check accepts but with which the hub cannot start is replaced by the former one', async () => {
    const [applied, before] = [(await villa.status())['appliedHash'], await villa.rollouts()];
    const unknown = `${BASE}homeassistant:\n  auth_providers:\n    - type: unknown\n`;
    await villa.change(unknown, { reloadStrategy: 'auto' });
    const { message } = await home.ready('hubconfiguration', 'villa', {
      status: 'False',
      reason: 'CheckFailed',
    });
    expect(message).toContain('came up in its recovery mode');
    await until('the hub runs again', async () => {
      await home.ready('hub', 'villa');
      return (await villa.rollouts()) === before + 2;
    });
    await villa.connect();
    await until(
      'it is not in recovery mode',
      async () => !(await getConfig(villa.client.rest)).recovery_mode,
    );
    await operator.calm();
    expect((await villa.status())['appliedHash']).toBe(applied);
    expect(await villa.rollouts()).toBe(before + 2);
    await villa.change(BASE);
    await villa.loaded();
  });

  test('under hot-reload, mqtt is reloaded while the hub has a broker', async () => {
    const broker = await MqttBroker.create();
    await broker.start();
    const answers = {
      broker: '127.0.0.1',
      port: String(broker.port),
      protocol: '3.1.1',
      'other_settings.set_client_cert': 'false',
      'other_settings.set_ca_cert': 'off',
    };
    await home.apply(
      integration('villa', 'mqtt', 'mqtt', {
        configuration: Object.fromEntries(
          Object.entries(answers).map(([field, value]) => [field, { value }]),
        ),
      }),
    );
    await home.ready('hubintegration', 'mqtt', { reason: 'EntryLoaded' });
    const { rest } = await villa.connect();
    const [pod, start] = [await villa.podUid(), await hubStartId(villa.client.connection)];
    for (const [name, value] of [
      ['Porch', 'bright'],
      ['Cellar', 'dark'],
    ] as const) {
      const topic = name.toLowerCase();
      await villa.change(`${BASE}mqtt:\n  sensor:\n    - name: ${name}\n      state_topic: ${topic}\n`, {
        reloadStrategy: 'hot-reload',
      });
      await villa.loaded();
      expect(await villa.status()).toMatchObject({ lastReloadMethod: 'hot-reload', changedSections: [] });
      // The entry is loaded before the hub is connected to the broker.
      await until('the hub publishes it', async () => {
        await callService(rest, 'mqtt', 'publish', { topic, payload: value, retain: true });
        return true;
      });
      await villa.shows(`sensor.${topic}`, value);
    }
    await until('the former one is gone', async () => (await stateOf(rest, 'sensor.porch')) !== 'bright');
    // The whole section is changed.
    await villa.change(BASE, { reloadStrategy: 'hot-reload' });
    await villa.loaded();
    expect(await villa.status()).toMatchObject({ lastReloadMethod: 'hot-reload', changedSections: [] });
    await until('the last one is gone', async () => (await stateOf(rest, 'sensor.cellar')) === undefined);
    expect(await villa.podUid()).toBe(pod);
    expect(await hubStartId(villa.client.connection)).toBe(start);
  });
});

/** The hub may close the connection before it answers. */
function ignoreHubError(error: unknown): void {
  if (!(error instanceof HubError)) throw error;
}
