import { getConfig } from '../../../operator/client/core';
import type { HubClient } from '../../../operator/client/hub-client';
import { callService } from '../../../operator/client/services';
import { getEntityState, stateOf } from '../../../operator/client/states';
import { freshNamespace, until } from '../../cluster';
import { configuration, Home, hub } from '../../cluster/home';
import { startTestOperator, type TestOperator } from '../../cluster/operator';
import { restoreOnboarded } from '../../cluster/onboarded-volume';
import { BROKEN } from './broken-configurations';

// Changes of one configuration that do not restart the hub, each with its effect asked of the hub.

const LOGGER = 'logger:\n  default: warning\n';
/** The hub offers the reload of most integrations only while it has loaded them. */
const BASE = `${LOGGER}template:
  - sensor:
      - name: Answer
        state: "41"
group:
  evening:
    entities: [sun.sun]
input_boolean:
  first:
`;

let home: Home;
let operator: TestOperator;
let client: HubClient;
let pod: string;

beforeAll(async () => {
  home = new Home(await freshNamespace('reload'));
  operator = await startTestOperator(home.namespace);
  await home.apply(configuration('later', BASE));
  await restoreOnboarded(home, 'villa');
  await home.apply(hub('villa'), configuration('villa', BASE));
  await home.ready('hubconfiguration', 'villa');
  client = await home.client('villa');
  pod = await podUid();
});

const podUid = async () => (await home.get('pod', 'villa-0')).metadata.uid;
const status = async (name = 'villa') => (await home.get('hubconfiguration', name)).status!;
const state = (entityId: string) => stateOf(client.rest, entityId);
const change = (text: string, spec: object = {}) =>
  home.change('hubconfiguration', 'villa', { configuration: text, ...spec });

/** Applies a change that must not restart the hub, and waits until the hub has it. */
async function hotReloaded(text: string, spec: object = {}): Promise<void> {
  await change(text, spec);
  await home.ready('hubconfiguration', 'villa', { reason: 'ConfigurationLoaded' });
  const { lastReloadMethod, appliedHash, configHash, changedSections } = await status();
  expect({ lastReloadMethod, changedSections }).toEqual({
    lastReloadMethod: 'hot-reload',
    changedSections: [],
  });
  expect(appliedHash).toBe(configHash);
  expect(await podUid()).toBe(pod);
}

describe('HubConfiguration', () => {
  test('one that is there long before its Hub is generated, and waits', async () => {
    await home.ready('hubconfiguration', 'later', { status: 'False', reason: 'HubNotFound' });
    const { data } = await home.get('configmap', 'later-configuration');
    expect(data!['configuration.yaml']).toContain('name: Answer');
    await home.delete('hubconfiguration', 'later');
  });

  test('what the hub started with is loaded', async () => {
    expect(await status()).toMatchObject({ lastReloadMethod: 'restart', changedSections: [] });
    expect((await status())['appliedHash']).toBe((await status())['configHash']);
    expect(await state('sensor.answer')).toBe('41');
  });

  describe('under auto, without a restart', () => {
    test('an input_boolean comes and goes', async () => {
      await hotReloaded(BASE.replace('first:', 'second:'));
      expect(await state('input_boolean.second')).toBe('off');
      expect(await state('input_boolean.first')).not.toBe('off');
    });

    test('a template sensor changes', async () => {
      await hotReloaded(BASE.replace('"41"', '"42"'));
      expect(await state('sensor.answer')).toBe('42');
    });

    test('a group changes', async () => {
      await hotReloaded(BASE.replace('[sun.sun]', '[sun.sun, input_boolean.first]'));
      const group = await getEntityState(client.rest, 'group.evening');
      expect(group?.attributes['entity_id']).toEqual(['sun.sun', 'input_boolean.first']);
    });

    test('an automation that is written in the YAML is there', async () => {
      const own = `${BASE}automation own:\n  - id: from_yaml\n    alias: From YAML\n    triggers: [{trigger: time, at: "07:00:00"}]\n    actions: []\n`;
      await hotReloaded(own);
      expect(await state('automation.from_yaml')).toBe('on');
    });

    test('levels of the logger are set, and one that is removed is inherited again', async () => {
      const levelOf = async () => {
        const levels = await client.connection.command('logger/log_info');
        return levels.find(({ domain }) => domain === 'input_boolean')?.level;
      };
      await hotReloaded(
        BASE.replace('warning\n', 'warning\n  logs:\n    homeassistant.components.input_boolean: debug\n'),
      );
      expect(await levelOf()).toBe(10);
      await hotReloaded(BASE);
      expect(await levelOf()).not.toBe(10);
    });
  });

  describe('under hot-reload', () => {
    test('core settings and customize are reloaded', async () => {
      const core =
        'homeassistant:\n  name: The villa\n  customize:\n    input_boolean.first:\n      icon: mdi:tree\n';
      await hotReloaded(BASE + core, { reloadStrategy: 'hot-reload' });
      expect((await getConfig(client.rest)).location_name).toBe('The villa');
      await callService(client.rest, 'input_boolean', 'toggle', { entity_id: 'input_boolean.first' });
      const entity = await getEntityState(client.rest, 'input_boolean.first');
      expect(entity?.attributes['icon']).toBe('mdi:tree');
    });

    test('a section that only a restart loads is named, and the rest is in use', async () => {
      await change(`${BASE.replace('"41"', '"43"')}counter:\n  visits:\n`);
      const { message } = await home.ready('hubconfiguration', 'villa', {
        status: 'False',
        reason: 'RestartPending',
      });
      expect(message).toMatch(/^Only a restart of the hub loads counter,/);
      expect((await status())['changedSections']).toEqual(['counter']);
      expect(await state('sensor.answer')).toBe('43');
      expect(await podUid()).toBe(pod);
    });

    test('a section that is as it was needs none', async () => {
      await change(BASE, { reloadStrategy: 'auto' });
      await home.ready('hubconfiguration', 'villa', { reason: 'ConfigurationLoaded' });
      expect(await state('sensor.answer')).toBe('41');
      expect(await podUid()).toBe(pod);
    });
  });

  describe('a change that the hub rejects', () => {
    test.each(BROKEN)('$name is named, and restarts nothing', async ({ text, says }) => {
      const { generation } = (await home.get('hubconfiguration', 'villa')).metadata;
      await change(text);
      const { message, observedGeneration } = await home.ready(
        'hubconfiguration',
        'villa',
        { status: 'False', reason: 'CheckFailed' },
        30_000,
      );
      expect(observedGeneration).toBe(generation + 1);
      for (const words of says) expect(message).toMatch(words instanceof RegExp ? words : new RegExp(words));
      expect(await podUid()).toBe(pod);
    });

    test('is not in the ConfigMap, and the hub goes on with what it had', async () => {
      const { data } = await home.get('configmap', 'villa-configuration');
      expect(data!['configuration.yaml']).toContain('name: Answer');
      expect(await state('sensor.answer')).toBe('41');
      expect(await home.condition('hub', 'villa')).toMatchObject({ status: 'True' });
      await change(BASE);
      await home.ready('hubconfiguration', 'villa', { reason: 'ConfigurationLoaded' });
    });

    test('shows no secret, wherever one looks', async () => {
      const secret = {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'words' },
        stringData: { latitude: 'hunter2 of Ada' },
      };
      const spec = { hubRef: { name: 'villa' }, secretRefs: [{ name: 'words' }] };
      const hubSecrets = {
        apiVersion: 'hub-operator.dev/v1',
        kind: 'HubSecrets',
        metadata: { name: 'villa' },
        spec,
      };
      await home.apply(secret, hubSecrets);
      await home.ready('hubsecrets', 'villa');
      await change('homeassistant:\n  latitude: !secret latitude\n');
      const { message } = await home.ready('hubconfiguration', 'villa', {
        status: 'False',
        reason: 'CheckFailed',
      });
      expect(message).toContain('latitude');
      const objects = await home.list(
        'hubs,hubconfigurations,hubsecrets,configmaps,pods,statefulsets,events',
      );
      expect(JSON.stringify(objects)).not.toContain('hunter2');
      expect(await operator.log()).not.toContain('hunter2');
      await change(BASE);
      await home.ready('hubconfiguration', 'villa', { reason: 'ConfigurationLoaded' });
    });
  });

  test('idle, nothing is written', async () => {
    await operator.calm();
    const versions = async () =>
      (await home.list('hubconfigurations,configmaps,secrets,statefulsets,pods')).map(
        ({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`,
      );
    const before = await versions();
    await operator.calm();
    expect(await versions()).toEqual(before);
  });

  test('one that takes over does so within 5 s, and the hub goes on', async () => {
    await home.apply({
      ...configuration('villa', BASE.replace('"41"', '"44"')),
      metadata: { name: 'villa-2' },
    });
    await home.ready('hubconfiguration', 'villa-2', { status: 'False', reason: 'DuplicateId' });
    await home.delete('hubconfiguration', 'villa');
    const gone = Date.now();
    await until('it is generated', async () => {
      const { data } = await home.get('configmap', 'villa-configuration');
      return data!['configuration.yaml']!.includes('"44"');
    });
    expect(Date.now() - gone).toBeLessThan(5_000);
    await home.ready('hubconfiguration', 'villa-2', { reason: 'ConfigurationLoaded' });
    expect(await state('sensor.answer')).toBe('44');
    expect(await podUid()).toBe(pod);
  });

  test('one that is deleted leaves the hub its files', async () => {
    await home.delete('hubconfiguration', 'villa-2');
    await until(
      'the ConfigMap is gone',
      async () => !(await home.exists('configmap', 'villa-configuration')),
    );
    await callService(client.rest, 'template', 'reload');
    expect(await state('sensor.answer')).toBe('44');
    expect(await home.condition('hub', 'villa')).toMatchObject({ status: 'True' });
    expect(await podUid()).toBe(pod);
  });
});
