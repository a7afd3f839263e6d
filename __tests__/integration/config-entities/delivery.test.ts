import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { load } from 'js-yaml';
import type { HubClient } from '../../../operator/client/hub-client';
import { freshNamespace, until } from '../../cluster';
import { patchObject } from '../../cluster/api';
import { automation, Home, type Manifest, scene, script, type Stored } from '../../cluster/home';
import { startHub } from '../../cluster/onboarded-volume';
import { startTestOperator, type TestOperator } from '../../cluster/operator';

// Automations, scenes and scripts move from the hub's own files to mounted files, and back.

const KINDS = 'hubautomations,hubscenes,hubscripts';

let home: Home;
let operator: TestOperator;
let client: HubClient;
/**
 * The number of reloads of all automations. `writes` has the paths of the requests that wrote to the hub's
 * own files.
 */
let reloads = 0;

beforeAll(async () => {
  home = new Home(await freshNamespace('delivery'));
  operator = await startTestOperator(home.namespace);
  await startHub(home, 'villa');
  client = await home.client('villa');
  await client.connection.subscribeEvents('call_service', ({ domain, service, service_data }) => {
    if (domain === 'automation' && service === 'reload' && service_data?.id === undefined) reloads += 1;
  });
});

const ready = (...resources: readonly Manifest[]) =>
  Promise.all(resources.map(({ kind, metadata }) => home.ready(kind, metadata.name)));
const apply = async (...resources: readonly Manifest[]) => {
  await home.apply(...resources);
  await ready(...resources);
};
const allReady = (isByFile: boolean) =>
  until('all are Ready, and delivered so', async () => {
    for (const { kind, metadata, status } of await home.list(KINDS)) {
      const isReady = status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True';
      if (!isReady || (status['delivery'] === 'File') !== isByFile)
        throw new Error(`${kind} ${metadata.name}: ${JSON.stringify(status)}`);
    }
    return true;
  });
/** Returns the ids in one of the hub's own files. */
async function idsIn(file: string): Promise<readonly string[]> {
  const text = await readFile(join(await home.volumeOf('villa'), file), 'utf8');
  const content = load(text) ?? [];
  return Array.isArray(content) ? content.map(({ id }: { id: string }) => id) : Object.keys(content);
}
/** Returns everything that a user of the hub sees of an object. */
async function seen(entityId: string) {
  const [entity] = (await client.connection.command('config/entity_registry/list')).filter(
    (each) => each.entity_id === entityId,
  );
  const { area_id: area, labels, name, unique_id: id } = entity as unknown as Record<string, unknown>;
  return { area, labels, name, id };
}
const stateOf = async (entityId: string) =>
  (await client.rest.get<{ state: string }>(`/api/states/${entityId}`)).state;
const running = async (entityId: string) => client.entities.running(entityId);
const configMaps = async () =>
  (await home.list('configmaps')).filter(({ metadata }) => /^villa-delivery-\d+$/.test(metadata.name));

test('existing objects move into files: entities, areas and states stay, no object exists twice, the hub is not restarted', async () => {
  await apply(
    automation('villa', 'porch'),
    automation('villa', 'off', { enabled: false }),
    scene('villa', 'movie'),
    script('villa', 'night'),
  );
  const { area_id: areaId } = await client.connection.command('config/area_registry/create', {
    name: 'Porch',
  });
  await client.connection.command('config/entity_registry/update', {
    entity_id: 'automation.the_automation_porch',
    area_id: String(areaId),
    name: 'My porch',
  });
  const before = await seen('automation.the_automation_porch');
  const { uid } = (await home.get('pod', 'villa-0')).metadata;
  await home.change('hub', 'villa', { delivery: 'File' });
  await allReady(true);
  expect(await seen('automation.the_automation_porch')).toEqual(before);
  expect(before.area).toBe(areaId);
  expect(await stateOf('automation.the_automation_off')).toBe('off');
  expect(await running('automation.the_automation_porch')).toMatchObject({ alias: 'The automation porch' });
  expect(await running('script.night')).toMatchObject({ alias: 'The script night' });
  for (const file of ['automations.yaml', 'scenes.yaml', 'scripts.yaml'])
    expect(await idsIn(file)).toEqual([]);
  expect((await home.get('pod', 'villa-0')).metadata.uid).toBe(uid);
  expect(await configMaps()).toHaveLength(1);
  await until('the Hub says so', async () => {
    const { status } = await home.get('hub', 'villa');
    expect(status!['delivery']).toMatchObject({ files: 4, api: 0, configMaps: 1 });
    return true;
  });
});

test('a burst is one reload or two; a change is in use, and no request writes to the files of the hub', async () => {
  const many = Array.from({ length: 30 }, (_, index) => automation('villa', `n-${index}`));
  // The operator is started afterwards, so that it sees all resources at the same time.
  await operator.stop();
  const since = reloads;
  await home.apply(...many);
  await operator.start();
  await ready(...many);
  expect(reloads - since).toBeLessThanOrEqual(5);
  expect(await idsIn('automations.yaml')).toEqual([]);
  await home.change('hubautomation', 'n-3', { description: 'changed', alias: 'Another name' });
  await home.ready('hubautomation', 'n-3');
  expect(await running('automation.the_automation_n_3')).toMatchObject({ description: 'changed' });
  const condition = await home.condition('hubautomation', 'n-3', 'ReloadReady');
  expect(condition).toMatchObject({ status: 'True', reason: 'ReloadSuccessful' });
  await home.change('hubscene', 'movie', { icon: 'mdi:movie' });
  await home.ready('hubscene', 'movie');
});

test('one invalid object never affects the others, and keeps its former definition', async () => {
  await home.change('hubautomation', 'porch', { triggers: [{ trigger: 'nonsense' }] });
  const bad = await home.ready('hubautomation', 'porch', { status: 'False', reason: 'RejectedByHub' });
  expect(bad.message).toMatch(/nonsense/);
  expect(await running('automation.the_automation_porch')).toMatchObject({
    triggers: [{ trigger: 'time', at: '07:30:00' }],
  });
  await home.change('hubautomation', 'n-4', {
    mode: 'single',
    maxExceeded: 'silent',
    actions: [{ action: 'no_domain' }],
  });
  await home.ready('hubautomation', 'n-4', { status: 'False', reason: 'RejectedByHub' });
  await home.change('hubautomation', 'n-4', { actions: [{ delay: 1 }] });
  await home.ready('hubautomation', 'n-4');
  await apply(automation('villa', 'after'));
  const odd = 'b\u2028c 🛋 !secret x: "y" #';
  await apply(
    automation('villa', 'odd', {
      description: odd,
      variables: { small: 1e-7, text: '1e21' },
    }),
  );
  expect(await running('automation.the_automation_odd')).toMatchObject({
    description: odd,
    variables: { small: 1e-7, text: '1e21' },
  });
  await home.change('hubautomation', 'porch', { triggers: [{ trigger: 'time', at: '07:30:00' }] });
  await home.ready('hubautomation', 'porch');
});

test('an operator that is killed while the hub refuses a definition restores the former one; the others are not touched', async () => {
  // The validation of triggers, conditions and actions, which the operator requests, does not find this
  // fault.
  const refused = { variables: { broken: '{{ 1 +' } };
  await home.change('hubautomation', 'n-9', refused);
  await home.apply(automation('villa', 'never', refused));
  await home.change('hubautomation', 'n-10', { description: 'beside it' });
  await until('it is delivered', async () => JSON.stringify(await configMaps()).includes('{{ 1 +'));
  await operator.kill();
  await operator.start();
  for (const name of ['n-9', 'never']) {
    const { message } = await home.ready('hubautomation', name, { status: 'False', reason: 'RejectedByHub' });
    expect(message).toMatch(/template/i);
  }
  await home.ready('hubautomation', 'n-10');
  expect(await running('automation.the_automation_n_10')).toMatchObject({ description: 'beside it' });
  const former = await running('automation.the_automation_n_9');
  expect(former).toMatchObject({ alias: 'The automation n-9' });
  expect(former).not.toHaveProperty('variables');
  expect(await stateOf('automation.the_automation_n_9')).toBe('on');
  await expect(seen('automation.the_automation_never')).rejects.toThrow();
  await home.change('hubautomation', 'n-9', { variables: null });
  await home.ready('hubautomation', 'n-9');
  await home.delete('hubautomation', 'never');
});

test('suspend, hubId and blueprints have the same effect as with delivery by the API', async () => {
  await home.change('hubautomation', 'n-8', { suspend: true, alias: 'Not yet' });
  const path = 'homeassistant/motion_light.yaml';
  const input = {
    motion_entity: 'binary_sensor.hall',
    light_target: { entity_id: 'light.hall' },
    no_motion_wait: 60,
  };
  const useBlueprint = { path, input };
  await apply(
    automation('villa', 'motion', { triggers: null, actions: null, useBlueprint }),
    script('villa', 'by-hub-id', { hubId: 'dusk' }),
  );
  expect(await running('script.dusk')).toMatchObject({ alias: 'The script by-hub-id' });
  expect(await running('automation.the_automation_motion')).toHaveProperty('triggers');
  expect(await running('automation.the_automation_n_8')).toMatchObject({ alias: 'The automation n-8' });
  await home.change('hubautomation', 'motion', { useBlueprint: { ...useBlueprint, path: 'not/there.yaml' } });
  await home.ready('hubautomation', 'motion', { status: 'False', reason: 'BlueprintNotReady' });
  expect(await running('automation.the_automation_motion')).toHaveProperty('triggers');
  await home.change('hubautomation', 'motion', { useBlueprint });
  await home.change('hubautomation', 'n-8', { suspend: null });
  await ready(automation('villa', 'motion'), automation('villa', 'n-8'));
  expect(await running('automation.the_automation_n_8')).toMatchObject({ alias: 'Not yet' });
});

test('deletion, another id, an orphan, and a user’s object with an id of the operator', async () => {
  await home.delete('hubautomation', 'n-5');
  await until(
    'it is gone',
    async () => !(await seen('automation.the_automation_n_5').catch(() => undefined))?.id,
  );
  await home.change('hubautomation', 'n-6', { id: 'n_six' });
  await home.ready('hubautomation', 'n-6');
  expect((await home.get('hubautomation', 'n-6')).status).toMatchObject({
    automationId: 'n_six',
    entityId: 'automation.the_automation_n_6',
  });
  await home.change('hubscript', 'night', { deletionPolicy: 'Orphan' });
  await home.ready('hubscript', 'night');
  await home.delete('hubscript', 'night');
  expect(await idsIn('scripts.yaml')).toEqual(['night']);
  expect(await running('script.night')).toMatchObject({ alias: 'The script night' });
  await client.rest.post('/api/config/automation/config/n-7', { alias: 'Mine', triggers: [], actions: [] });
  await until('it is taken back', async () => (await idsIn('automations.yaml')).length === 0);
  await home.ready('hubautomation', 'n-7');
  await until(
    'ours runs',
    async () => (await running('automation.the_automation_n_7'))?.['alias'] === 'The automation n-7',
  );
});

test('an operator that is killed during the move continues it, there and back', async () => {
  await home.change('hub', 'villa', { delivery: 'Api' });
  await until('some are in the file of the hub', async () => (await idsIn('automations.yaml')).length > 3);
  await operator.kill();
  await operator.start();
  await allReady(false);
  const ids = await idsIn('automations.yaml');
  expect([...ids].sort()).toEqual([...new Set(ids)].sort());
  expect(ids).toHaveLength((await home.list('hubautomations')).length);
  await until('the ConfigMaps are gone', async () => (await configMaps()).length === 0);
  await home.change('hub', 'villa', { delivery: 'File' });
  await until('some are files', async () => (await configMaps()).length > 0);
  await operator.kill();
  await operator.start();
  await allReady(true);
  expect(await idsIn('automations.yaml')).toEqual([]);
  expect(await running('automation.the_automation_porch')).toMatchObject({ alias: 'The automation porch' });
  // A ConfigMap that someone deletes is created again, and a hub that starts has all definitions.
  await home.delete('configmap', 'villa-delivery-0', { wait: false });
  await until('it is there again', async () => (await configMaps()).length === 1);
});

test('an immutable ConfigMap is replaced with all its definitions, and named when it is made immutable again', async () => {
  const patch = (spec: object) => patchObject('configmaps', home.namespace, 'villa-delivery-0', spec);
  const content = async () => {
    const { metadata, data } = (await home.get('configmap', 'villa-delivery-0')) as unknown as {
      metadata: { uid: string };
      data: Record<string, string>;
    };
    return {
      uid: metadata.uid,
      ids: Object.values(data).flatMap((text) => text.match(/"id": "[^"]+"/g) ?? []),
    };
  };
  await home.change('hub', 'villa', { delivery: 'File' });
  await home.apply(automation('villa', 'stone'), automation('villa', 'other'));
  await allReady(true);
  const before = await content();
  expect(before.ids).toContain('"id": "other"');
  await patch({ immutable: true });
  await home.change('hubautomation', 'stone', { description: 'immutable' });
  await home.ready('hubautomation', 'stone');
  const after = await content();
  expect(after.uid).not.toBe(before.uid);
  expect(after.ids).toEqual(before.ids);
  expect(await running('automation.the_automation_stone')).toMatchObject({ description: 'immutable' });
  await home.event('Hub', 'villa', /^Warning ImmutableReplaced: ConfigMap .*villa-delivery-0 was immutable/);
  expect((await configMaps()).map(({ metadata }) => metadata.name)).toEqual(['villa-delivery-0']);
  expect(await home.exists('configmap', 'villa-delivery-0-next')).toBe(false);

  await patch({ immutable: true });
  await home.change('hubautomation', 'stone', { description: 'again' });
  const { message } = await home.ready('hubautomation', 'stone', { status: 'False', reason: 'NameConflict' });
  expect(message).toContain('villa-delivery-0 is immutable again');
  expect(await running('automation.the_automation_stone')).toMatchObject({ description: 'immutable' });
  await home.delete('configmap', 'villa-delivery-0', { wait: false });
  await home.ready('hubautomation', 'stone');
  expect((await content()).ids).toEqual(before.ids);
  expect(await running('automation.the_automation_stone')).toMatchObject({ description: 'again' });
});

test('an operator that was killed while it replaced a ConfigMap continues', async () => {
  await operator.stop();
  const { metadata, data } = (await home.get('configmap', 'villa-delivery-0')) as unknown as Stored & {
    data: Record<string, string>;
  };
  const { labels = {}, annotations = {} } = metadata;
  await home.apply({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: 'villa-delivery-0-next',
      labels,
      annotations: { ...annotations, 'hub-operator.dev/replaces': 'villa-delivery-0' },
    },
    data,
  });
  await home.delete('configmap', 'villa-delivery-0');
  await operator.start();
  await until('the definitions are back', () => home.exists('configmap', 'villa-delivery-0'));
  await until(
    'the other one is gone',
    async () => !(await home.exists('configmap', 'villa-delivery-0-next')),
  );
  const after = await home.get('configmap', 'villa-delivery-0');
  expect(after['data']).toEqual(data);
  await allReady(true);
});

test('a Hub that keeps its volume keeps the delivered definitions, even when it is deleted', async () => {
  await home.change('hub', 'villa', { delivery: 'File', storage: { retain: true } });
  await home.apply(automation('villa', 'kept'));
  const delivered = await until('the definitions belong to no Hub', async () => {
    const found = await home.get('configmap', 'villa-delivery-0');
    if (!JSON.stringify(found['data']).includes('kept')) throw new Error('it is not delivered yet');
    return found.metadata.ownerReferences === undefined && found;
  });
  await home.delete('hub', 'villa');
  const after = await home.get('configmap', 'villa-delivery-0');
  expect(after.metadata.uid).toBe(delivered.metadata.uid);
  expect(after['data']).toEqual(delivered['data']);
});
