import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { HubClient } from '../../../operator/client/hub-client';
import { callService } from '../../../operator/client/services';
import { freshNamespace, mustKubectl, until } from '../../cluster';
import { automation, configuration, Home, hub, scene, script } from '../../cluster/home';
import { startTestOperator, type TestOperator } from '../../cluster/operator';

const OWN_SECTIONS = `
automation: !include_dir_merge_list my_automations
scene: []
script:
  of_the_household:
    sequence: []
`;

describe('Ready of a config entity', () => {
  let home: Home;
  let client: HubClient;
  let operator: TestOperator;

  beforeAll(async () => {
    home = new Home(await freshNamespace('in-use'));
    operator = await startTestOperator(home.namespace);
    await home.apply(hub('villa'), configuration('villa', OWN_SECTIONS));
    await home.ready('hub', 'villa');
    client = await home.client('villa');
  });

  test('automations, scenes and scripts are in use beside sections of the user’s own', async () => {
    await home.apply(automation('villa', 'beside'), scene('villa', 'beside'), script('villa', 'beside'));
    for (const kind of ['hubautomation', 'hubscene', 'hubscript']) {
      await home.ready(kind, 'beside');
      const entityId = String((await home.get(kind, 'beside')).status?.['entityId']);
      await expect(client.rest.get(`/api/states/${entityId}`)).resolves.toMatchObject({
        entity_id: entityId,
      });
    }
    await expect(client.rest.get('/api/states/script.of_the_household')).resolves.toBeDefined();
  });

  test('an automation that the hub disabled as invalid is RejectedByHub, and recovers by the hub’s own events', async () => {
    const path = 'homeassistant/motion_light.yaml';
    const input = { motion_entity: 'binary_sensor.x', light_target: { entity_id: 'light.x' } };
    await home.apply(
      automation('villa', 'motion', { triggers: null, actions: null, useBlueprint: { path, input } }),
    );
    await home.ready('hubautomation', 'motion');
    const file = join(await home.volumeOf('villa'), 'blueprints/automation', path);
    await rename(file, `${file}.away`);
    await callService(client.rest, 'automation', 'reload');
    const rejected = { status: 'False', reason: 'RejectedByHub' } as const;
    const { message } = await home.ready('hubautomation', 'motion', rejected);
    expect(message).toMatch(/disabled the automation motion as invalid: .*blueprint/i);
    await rename(`${file}.away`, file);
    await callService(client.rest, 'automation', 'reload');
    await home.ready('hubautomation', 'motion');
  });

  test('an automation whose file is not included is NotLoaded, and Ready once it is', async () => {
    const file = join(await home.volumeOf('villa'), 'configuration.yaml');
    const text = await readFile(file, 'utf8');
    const include = 'automation hub_operator: !include automations.yaml\n';
    expect(text).toContain(include);
    await writeFile(file, text.replace(include, ''));
    await home.apply(automation('villa', 'alone'));
    const message = await until('it is NotLoaded', async () => {
      // A node that is late may restore the content of the ConfigMap, which has the include.
      if ((await readFile(file, 'utf8')) === text) {
        await writeFile(file, text.replace(include, ''));
        await callService(client.rest, 'automation', 'reload');
      }
      const ready = await home.condition('hubautomation', 'alone');
      return ready?.reason === 'NotLoaded' && ready.message;
    });
    expect(message).toContain(include.trim());
    await writeFile(file, text);
    await callService(client.rest, 'automation', 'reload');
    await home.ready('hubautomation', 'alone');
  });

  test('a resource that was restored without status recognizes its object by the label in the hub', async () => {
    await home.apply(
      automation('villa', 'restored'),
      scene('villa', 'restored'),
      script('villa', 'restored'),
    );
    for (const kind of ['hubautomation', 'hubscene', 'hubscript']) await home.ready(kind, 'restored');
    const label = 'managed_by_hub_operator';
    const labelled = async () =>
      (await client.connection.command('config/entity_registry/list'))
        .filter(({ labels }) => labels?.includes(label))
        .map(({ unique_id: id }) => id);
    await until('all three have the label', async () => {
      expect((await labelled()).filter((id) => id === 'restored')).toHaveLength(3);
      return true;
    });
    await operator.calm();
    await operator.stop();
    for (const kind of ['hubautomation', 'hubscene', 'hubscript']) {
      const finalizers = JSON.stringify({ metadata: { finalizers: null } });
      await mustKubectl(['patch', kind, 'restored', '--type=merge', `--patch=${finalizers}`], home);
      await home.delete(kind, 'restored');
    }
    await operator.start();
    await home.apply(
      automation('villa', 'restored'),
      scene('villa', 'restored'),
      script('villa', 'restored'),
    );
    for (const kind of ['hubautomation', 'hubscene', 'hubscript']) {
      await home.ready(kind, 'restored');
      expect((await home.get(kind, 'restored')).status).not.toHaveProperty('adopted');
      await home.delete(kind, 'restored');
    }
    expect(await labelled()).not.toContain('restored');
    for (const kind of ['automation', 'scene', 'script'] as const) {
      await expect(client.entities.read(kind, 'restored')).resolves.toBeUndefined();
    }
  });
});
