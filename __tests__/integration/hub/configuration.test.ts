import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { getConfig } from '../../../operator/client/setup/core';
import { hubStartId } from '../../../operator/client/setup/hub-start-id';
import { callService } from '../../../operator/client/services';
import { stateOf } from '../../../operator/client/config-entities/states';
import { freshNamespace, until } from '../../cluster';
import { configuration, Home, hub, hubSecrets, secret } from '../../cluster/home';
import { oneOfThree } from '../../cluster/one-of-three';
import { startTestOperator, type TestOperator } from '../../cluster/operator';
import { restoreOnboarded } from '../../cluster/onboarded-volume';
import { BROKEN } from './broken-configurations';
import { ConfiguredHub } from './configured-hub';

// Changes of one configuration that do not restart the hub. The effect of each is read from the hub.

const LOGGER = 'logger:\n  default: warning\n';
/** The base has many integrations, because the hub can reload most of them only while they are loaded. */
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
let villa: ConfiguredHub;
let pod: string;

beforeAll(async () => {
  home = new Home(await freshNamespace('reload'));
  operator = await startTestOperator(home.namespace);
  await home.apply(configuration('later', BASE));
  await restoreOnboarded(home, 'villa');
  await home.apply(hub('villa'), configuration('villa', BASE));
  villa = new ConfiguredHub(home, 'villa');
  await villa.loaded();
  await villa.connect();
  pod = await villa.podUid();
});

/** Applies a change that must not restart the hub, and waits until the hub has loaded it. */
async function hotReloaded(text: string, spec: object = {}): Promise<void> {
  await villa.change(text, spec);
  await villa.loaded();
  const { lastReloadMethod, appliedHash, configHash, changedSections } = await villa.status();
  expect({ lastReloadMethod, changedSections }).toEqual({
    lastReloadMethod: 'hot-reload',
    changedSections: [],
  });
  expect(appliedHash).toBe(configHash);
  expect(await villa.podUid()).toBe(pod);
}

describe('HubConfiguration', () => {
  test('one that exists long before its Hub is generated, and waits', async () => {
    await home.ready('hubconfiguration', 'later', { status: 'False', reason: 'HubNotFound' });
    const { data } = await home.get('configmap', 'later-configuration');
    expect(data!['configuration.yaml']).toContain('name: Answer');
    await home.delete('hubconfiguration', 'later');
  });

  test('the content with which the hub started is loaded', async () => {
    const status = await villa.status();
    expect(status).toMatchObject({ lastReloadMethod: 'restart', changedSections: [] });
    expect(status['appliedHash']).toBe(status['configHash']);
    await villa.shows('sensor.answer', '41');
  });

  describe('under auto, without a restart', () => {
    test('an input_boolean comes and goes', async () => {
      await hotReloaded(BASE.replace('first:', 'second:'));
      await villa.shows('input_boolean.second', 'off');
      await until(
        'the first one is gone',
        async () => (await stateOf(villa.client.rest, 'input_boolean.first')) !== 'off',
      );
    });

    test('a template sensor changes', async () => {
      await hotReloaded(BASE.replace('"41"', '"42"'));
      await villa.shows('sensor.answer', '42');
    });

    test('a group gets another member', async () => {
      await hotReloaded(BASE.replace('[sun.sun]', '[sun.sun, input_boolean.first]'));
      await villa.showsAttribute('group.evening', 'entity_id', ['sun.sun', 'input_boolean.first']);
    });

    test('an automation that is written in the YAML is there', async () => {
      const own = `${BASE}automation own:\n  - id: from_yaml\n    alias: From YAML\n    triggers: [{trigger: time, at: "07:00:00"}]\n    actions: []\n`;
      await hotReloaded(own);
      await villa.shows('automation.from_yaml', 'on');
    });

    test('levels of the logger are set, and one that is removed is inherited again', async () => {
      const levelOf = async () => {
        const levels = await villa.client.connection.command('logger/log_info');
        return levels.find(({ domain }) => domain === 'input_boolean')?.level;
      };
      await hotReloaded(
        BASE.replace('warning\n', 'warning\n  logs:\n    homeassistant.components.input_boolean: debug\n'),
      );
      await until('the level is set', async () => (await levelOf()) === 10);
      await hotReloaded(BASE);
      await until('it is inherited', async () => (await levelOf()) !== 10);
    });
  });

  describe('under hot-reload', () => {
    test('core settings and customize are reloaded', async () => {
      const core =
        'homeassistant:\n  name: The villa\n  customize:\n    input_boolean.first:\n      icon: mdi:tree\n';
      await hotReloaded(BASE + core, { reloadStrategy: 'hot-reload' });
      const { rest } = villa.client;
      await until('the name', async () => (await getConfig(rest)).location_name === 'The villa');
      await callService(rest, 'input_boolean', 'toggle', { entity_id: 'input_boolean.first' });
      await villa.showsAttribute('input_boolean.first', 'icon', 'mdi:tree');
    });

    test('logger, helpers, groups and automations are reloaded', async () => {
      const own =
        'automation own:\n  - id: from_yaml\n    alias: From YAML\n    triggers: [{trigger: time, at: "07:00:00"}]\n    actions: []\n';
      const changed = BASE.replace(
        'warning\n',
        'warning\n  logs:\n    homeassistant.components.group: debug\n',
      )
        .replace('[sun.sun]', '[sun.sun, input_boolean.third]')
        .replace('first:', 'third:');
      await hotReloaded(changed + own);
      await villa.shows('input_boolean.third', 'off');
      await villa.showsAttribute('group.evening', 'entity_id', ['sun.sun', 'input_boolean.third']);
      await villa.shows('automation.from_yaml', 'on');
      await until('the level is set', async () => {
        const levels = await villa.client.connection.command('logger/log_info');
        return levels.find(({ domain }) => domain === 'group')?.level === 10;
      });
    });

    test('sections that only a restart loads are named, and the rest is in use', async () => {
      // The hub can reload mqtt only while it is loaded.
      const pending = 'counter:\n  visits:\nmqtt:\n  sensor:\n    - name: Porch\n      state_topic: porch\n';
      await villa.change(BASE.replace('"41"', '"43"') + pending);
      const { message } = await home.ready('hubconfiguration', 'villa', {
        status: 'False',
        reason: 'RestartPending',
      });
      expect(message).toMatch(/^Only a restart of the hub loads counter, mqtt,/);
      expect((await villa.status())['changedSections']).toEqual(['counter', 'mqtt']);
      await villa.shows('sensor.answer', '43');
      expect(await villa.podUid()).toBe(pod);
    });

    test('an unchanged section needs no restart', async () => {
      await villa.change(BASE, { reloadStrategy: 'auto' });
      await villa.loaded();
      await villa.shows('sensor.answer', '41');
      expect(await villa.podUid()).toBe(pod);
    });
  });

  describe('a change that the hub rejects', () => {
    let start: string;

    beforeAll(async () => {
      start = await hubStartId(villa.client.connection);
    });

    test.each(BROKEN)('$name is named, and restarts nothing', async ({ text, says }) => {
      const { generation } = (await home.get('hubconfiguration', 'villa')).metadata;
      await villa.change(text);
      const { message, observedGeneration } = await home.ready('hubconfiguration', 'villa', {
        status: 'False',
        reason: 'CheckFailed',
      });
      expect(observedGeneration).toBe(generation + 1);
      for (const words of says) expect(message).toMatch(words instanceof RegExp ? words : new RegExp(words));
      expect(await villa.podUid()).toBe(pod);
    });

    test('a fault that only a reload shows is undone, and the former content is loaded again', async () => {
      const own = (ids: readonly string[]) =>
        `automation own:\n${ids.map((id, index) => `  - {id: ${id}, alias: Own ${index}, triggers: [], actions: []}\n`).join('')}`;
      await villa.change(BASE + own(['one', 'two']));
      await villa.loaded();
      await villa.change(BASE + own(['one', 'one']));
      const { message } = await home.ready('hubconfiguration', 'villa', {
        status: 'False',
        reason: 'CheckFailed',
      });
      expect(message).toMatch(/^The hub rejects the configuration: .*ID one already exists/);
      await villa.shows('automation.own_0', 'on');
      await villa.shows('automation.own_1', 'on');
      expect(await villa.podUid()).toBe(pod);
      await villa.change(BASE);
      await villa.loaded();
    });

    test('is not in the ConfigMap, and the hub continues with the former content', async () => {
      const { data } = await home.get('configmap', 'villa-configuration');
      expect(data!['configuration.yaml']).toContain('name: Answer');
      await villa.shows('sensor.answer', '41');
      await home.ready('hub', 'villa');
      // Neither the pod nor the container was restarted.
      expect(await villa.podUid()).toBe(pod);
      expect(await hubStartId(villa.client.connection)).toBe(start);
      await villa.change(BASE);
      await villa.loaded();
    });

    test('shows no secret anywhere', async () => {
      await home.apply(
        secret('words', { latitude: 'hunter2 of Ada' }),
        hubSecrets('villa', 'villa', { secretRefs: [{ name: 'words' }] }),
      );
      await home.ready('hubsecrets', 'villa');
      await villa.change('homeassistant:\n  latitude: !secret latitude\n');
      const { message } = await home.ready('hubconfiguration', 'villa', {
        status: 'False',
        reason: 'CheckFailed',
      });
      expect(message).toContain('latitude');
      // From then on the events about the change are among the objects.
      await operator.events('HubConfiguration', 'villa');
      const objects = await home.list(
        'hubs,hubconfigurations,hubsecrets,configmaps,pods,statefulsets,events',
      );
      for (const shown of ['hunter2', Buffer.from('hunter2 of Ada').toString('base64')]) {
        expect(JSON.stringify(objects)).not.toContain(shown);
        expect(await operator.log()).not.toContain(shown);
      }
      await villa.change(BASE);
      await villa.loaded();
    });
  });

  test('in an idle minute, nothing is written', async () => {
    // Only these kinds count: other clients write the status of the pod and its StatefulSet, which changes
    // their versions.
    const present = async () => ({
      versions: (await home.list('hubconfigurations,configmaps,secrets')).map(
        ({ kind, metadata }) => `${kind} ${metadata.name} ${metadata.resourceVersion}`,
      ),
      workload: (await home.list('statefulsets,pods')).map(({ metadata, spec }) => [
        metadata.uid,
        metadata.generation,
        metadata.annotations,
        spec,
      ]),
    });
    // A hub that answers late on a busy machine is reported, which is a write.
    await oneOfThree(
      async () => {
        await operator.calm();
        const before = await present();
        await sleep(60_000);
        return isDeepStrictEqual(await present(), before);
      },
      (isSame) => isSame,
    );
  });

  test('one that takes over does so within 5 s, and the hub keeps running', async () => {
    await oneOfThree(
      async (attempt) => {
        const [present, next] = [attempt === 1 ? 'villa' : `villa-${attempt}`, `villa-${attempt + 1}`];
        const answer = `${43 + attempt}`;
        await home.apply({
          ...configuration('villa', BASE.replace('41', answer)),
          metadata: { name: next },
        });
        await home.ready('hubconfiguration', next, { status: 'False', reason: 'DuplicateId' });
        await home.delete('hubconfiguration', present);
        const gone = Date.now();
        await until('it is generated', async () => {
          const { data } = await home.get('configmap', 'villa-configuration');
          return data!['configuration.yaml']!.includes(`"${answer}"`);
        });
        const took = Date.now() - gone;
        await home.ready('hubconfiguration', next, { reason: 'ConfigurationLoaded' });
        await villa.shows('sensor.answer', answer);
        expect(await villa.podUid()).toBe(pod);
        return took;
      },
      (took) => took < 5_000,
    );
  });

  test('one that is deleted leaves the hub its files', async () => {
    const present = await home.list('hubconfigurations');
    const last = present.find(({ metadata }) => metadata.name.startsWith('villa-'))!;
    await home.delete('hubconfiguration', last.metadata.name);
    await until(
      'the ConfigMap is gone',
      async () => !(await home.exists('configmap', 'villa-configuration')),
    );
    const { rest } = villa.client;
    const [, answer] = /state: "(\d+)"/.exec(String(last.spec['configuration']))!;
    await callService(rest, 'template', 'reload');
    await villa.shows('sensor.answer', answer!);
    await home.ready('hub', 'villa');
    expect(await villa.podUid()).toBe(pod);
  });
});
