import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { getConfig } from '../../../operator/client/core';
import { HubError } from '../../../operator/client/errors';
import type { HubClient } from '../../../operator/client/hub-client';
import { readHttpConfig } from '../../../operator/client/http-settings';
import { callService } from '../../../operator/client/services';
import { stateOf } from '../../../operator/client/states';
import { freshNamespace, until } from '../../cluster';
import { Home } from '../../cluster/home';
import { running } from '../../cluster/http-settings';
import { startTestOperator, type TestOperator } from '../../cluster/operator';
import { startHub } from '../../cluster/onboarded-volume';

// Changes of one configuration for which the hub restarts: by a new pod, or by itself.

const BASE = 'logger:\n  default: warning\ninput_boolean:\n  first:\n';
const WITH_COUNTER = `${BASE}homeassistant:\n  name: After the crash\ncounter:\n  guests:\n`;

let home: Home;
let operator: TestOperator;
let client: HubClient;

beforeAll(async () => {
  home = new Home(await freshNamespace('restart'));
  operator = await startTestOperator(home.namespace);
  await startHub(home, 'villa');
  await home.ready('hubconfiguration', 'villa');
  client = await home.client('villa');
});

const podUid = async () => (await home.get('pod', 'villa-0')).metadata.uid;
const rollouts = async () => (await home.get('statefulset', 'villa')).metadata.generation;
const status = async () => (await home.get('hubconfiguration', 'villa')).status!;
const change = (configuration: string, spec: object = {}) =>
  home.change('hubconfiguration', 'villa', { configuration, ...spec });
const loaded = () => home.ready('hubconfiguration', 'villa', { reason: 'ConfigurationLoaded' });

describe('HubConfiguration', () => {
  test('core settings, mqtt and a section without a reload restart the hub once, and are loaded then', async () => {
    const [before, pod] = [await rollouts(), await podUid()];
    await change(
      `${BASE}homeassistant:\n  name: The villa\nmqtt:\n  sensor:\n    - name: Porch\n      state_topic: porch\ncounter:\n  visits:\n`,
    );
    await home.ready('hubconfiguration', 'villa', { status: 'False', reason: 'RestartPending' });
    await loaded();
    expect(await podUid()).not.toBe(pod);
    expect(await rollouts()).toBe(before + 1);
    expect(await status()).toMatchObject({ lastReloadMethod: 'restart', changedSections: [] });
    client = await home.client('villa');
    expect((await getConfig(client.rest)).location_name).toBe('The villa');
    expect(await stateOf(client.rest, 'counter.visits')).toBe('0');
    expect((await getConfig(client.rest)).components).toContain('mqtt');
  });

  test('20 changes of configuration and secrets within seconds are one rollout', async () => {
    const [before, pod] = [await rollouts(), await podUid()];
    const spec = { hubRef: { name: 'villa' }, secretRefs: [{ name: 'words' }] };
    const hubSecrets = {
      apiVersion: 'hub-operator.dev/v1',
      kind: 'HubSecrets',
      metadata: { name: 'villa' },
      spec,
    };
    for (let count = 1; count <= 10; count++) {
      const stringData = { word: `w${count}` };
      await home.apply(
        { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'words' }, stringData },
        hubSecrets,
      );
      await change(`${BASE}homeassistant:\n  name: !secret word\n  elevation: ${count}\n`);
    }
    await loaded();
    client = await home.client('villa');
    expect(await getConfig(client.rest)).toMatchObject({ location_name: 'w10', elevation: 10 });
    expect(await podUid()).not.toBe(pod);
    expect(await rollouts()).toBe(before + 1);
  });

  test('a restart that is needed happens, although the operator is killed', async () => {
    const pod = await podUid();
    await change(`${BASE}homeassistant:\n  name: After the crash\n`);
    await until('the change is written', async () => {
      const { data } = await home.get('configmap', 'villa-configuration');
      return data!['configuration.yaml']!.includes('After the crash');
    });
    await operator.kill();
    await operator.start();
    await loaded();
    client = await home.client('villa');
    expect((await getConfig(client.rest)).location_name).toBe('After the crash');
    expect(await podUid()).not.toBe(pod);
  });

  test('under hot-reload, a restart by a person loads what is pending', async () => {
    const pod = await podUid();
    await change(WITH_COUNTER, {
      reloadStrategy: 'hot-reload',
    });
    await home.ready('hubconfiguration', 'villa', { status: 'False', reason: 'RestartPending' });
    await callService(client.rest, 'homeassistant', 'restart').catch(ignoreHubError);
    await loaded();
    expect(await stateOf(client.rest, 'counter.guests')).toBe('0');
    expect(await status()).toMatchObject({ lastReloadMethod: 'restart', changedSections: [] });
    expect(await podUid()).toBe(pod);
  });

  describe('the section http:', () => {
    const withProxies = (networks: string) =>
      `${WITH_COUNTER}http:\n  use_x_forwarded_for: true\n  trusted_proxies: ${networks}\n`;
    const slots = async () => (await readHttpConfig(client.connection))!;

    test('becomes the settings of the hub, for good', async () => {
      const pod = await podUid();
      await change(withProxies('[10.0.0.0/8, 192.168.1.7]'), { reloadStrategy: 'hot-reload' });
      await home.ready('hubconfiguration', 'villa', { status: 'False', reason: 'RestartPending' });
      expect(await home.condition('hubconfiguration', 'villa', 'HttpSettingsReady')).toMatchObject({
        reason: 'RestartPending',
      });
      await home.change('hubconfiguration', 'villa', { reloadStrategy: 'auto' });
      await loaded();
      client = await home.client('villa');
      expect(await home.condition('hubconfiguration', 'villa', 'HttpSettingsReady')).toMatchObject({
        status: 'True',
        reason: 'Applied',
      });
      expect((await status())['httpSource']).toBe('Api');
      const { stable, pending } = await slots();
      expect(stable!.trusted_proxies).toEqual(['10.0.0.0/8', '192.168.1.7/32']);
      expect(pending).toBeNull();
      expect(await podUid()).toBe(pod);
    });

    test('waits while settings of another client are on trial', async () => {
      await running(client);
      const { stable } = await slots();
      const { created_at: _at, error: _error, error_message: _message, ...settings } = stable!;
      const theirs = { ...settings, use_x_frame_options: false };
      await client.connection.command('http/config/configure', { config: theirs });
      await until('the hub has them on trial', async () => (await slots()).active_config_type === 'pending');
      await home.ready('hub', 'villa');
      await change(withProxies('[10.0.0.0/8]'));
      await until('it waits', async () => {
        const condition = await home.condition('hubconfiguration', 'villa', 'HttpSettingsReady');
        return condition?.reason === 'PendingChange';
      });
      expect((await slots()).pending).toMatchObject({ use_x_frame_options: false });
      await client.connection.command('http/config/promote');
      await until('it goes on', async () => (await slots()).stable!.trusted_proxies!.length === 1);
      await loaded();
    });
  });

  test('an old file that a restored backup brings is noticed, and the pod is replaced once', async () => {
    const pod = await podUid();
    const file = join(await home.volumeOf('villa'), 'configuration.yaml');
    await rm(file);
    await writeFile(file, 'logger:\n  default: error\nscript: !include scripts.yaml\n');
    client = await home.client('villa');
    await running(client);
    await callService(client.rest, 'homeassistant', 'restart').catch(ignoreHubError);
    await until('the pod is replaced', async () => (await podUid()) !== pod);
    const next = await podUid();
    await loaded();
    client = await home.client('villa');
    expect(await stateOf(client.rest, 'input_boolean.first')).toBe('off');
    expect(await podUid()).toBe(next);
  });
});

/** The hub may close the connection before it answers. */
function ignoreHubError(error: unknown): void {
  if (!(error instanceof HubError)) throw error;
}
