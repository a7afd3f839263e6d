import { systemClock } from '../../../operator/base/clock';
import { HubClient } from '../../../operator/client/hub-client';
import { EDITOR_ACTION, editorAutomation } from '../../cluster/editor-automation';
import type { HubToExport } from '../../cluster/hub-to-export';
import { silentLog } from '../../cluster/silent-log';
import { until } from '../../cluster/until';

// A home in which each object was made as the hub's UI makes it, by its files and its commands.

const list = <T>(length: number, make: (index: number) => T): T[] =>
  Array.from({ length }, (_, index) => make(index));

const ID = 1_700_000_000_000;
export const BLUEPRINT = 'anna/Night Light.yaml';

const blueprint = `blueprint:
  name: Night light
  description: Lights up while someone walks at night.
  domain: automation
  input:
    motion:
      name: Motion
      selector:
        entity:
          domain: binary_sensor
    lamp:
      name: Lamp
      default: light.bed_light
triggers:
  - trigger: state
    entity_id: !input motion
    to: "on"
actions:
  - action: light.turn_on
    target:
      entity_id: !input lamp
`;

function automation(index: number): object {
  const id = String(ID + index);
  const alias = index === 3 ? 'Flur: Licht aus? „Ja“' : `Automation ${index}`;
  if (index % 3 !== 0)
    return editorAutomation({ id, alias, isFromBlueprint: false, actions: [EDITOR_ACTION, { delay: 2 }] });
  return {
    id,
    alias,
    description: 'of a blueprint\n\nwith a blank line',
    use_blueprint: {
      path: index % 2 === 0 ? BLUEPRINT : 'homeassistant/motion_light.yaml',
      input:
        index % 2 === 0
          ? { motion: 'binary_sensor.movement_backyard', lamp: 'light.kitchen_lights' }
          : { motion_entity: 'binary_sensor.m', light_target: { entity_id: ['light.a'] } },
    },
  };
}

const script = (index: number) => [
  `script_${index}`,
  {
    alias: `Script ${index}`,
    description: '',
    icon: 'mdi:script',
    sequence: [EDITOR_ACTION],
    ...(index % 2 === 0 && { mode: 'queued', max: 3 }),
  },
];

const scene = (index: number) => ({
  id: String(ID + index),
  name: `Scene ${index}`,
  icon: 'mdi:sofa',
  entities: { 'light.bed_light': { state: 'on', brightness: 20 + index, friendly_name: 'Bed' } },
  metadata: { 'light.bed_light': { entity_only: true } },
});

/** Files as the hub's editors write them. */
export const FILES: Readonly<Record<string, string>> = {
  'automations.yaml': JSON.stringify(list(30, automation)),
  'scripts.yaml': JSON.stringify(Object.fromEntries(list(20, script))),
  'scenes.yaml': JSON.stringify(list(10, scene)),
  [`blueprints/automation/${BLUEPRINT}`]: blueprint,
};

/** Integrations that make entities and devices without a network. */
export const INTEGRATIONS = '\ndemo:\nkitchen_sink:\n';

export function clientOf({ process: { url }, token }: HubToExport): HubClient {
  return new HubClient({ url, token, clock: systemClock, log: silentLog });
}

/** A command that the operator does not use has no type. */
export const send = async <T = Readonly<Record<string, unknown>>>(
  client: HubClient,
  type: string,
  fields: object = {},
): Promise<T> => await client.connection.command(type as never, fields as never);

/** Gives a hub with {@link FILES} and {@link INTEGRATIONS} all that is made by commands. */
export async function furnish(client: HubClient): Promise<void> {
  await until('the integrations have made their entities', async () => {
    const { all } = await client.settings.entity.entries();
    return [...all].length > 100;
  });
  await makePlaces(client);
  await makeHelpers(client);
  await makePersons(client);
  await setEntities(client);
  await setDevices(client);
  await makeTheRest(client);
}

/** Objects of a home that no kind of the operator describes. */
async function makeTheRest(client: HubClient): Promise<void> {
  await send(client, 'tag/create', { tag_id: 'front-door', name: 'Front door' });
  await send(client, 'lovelace/dashboards/create', {
    url_path: 'wall-panel',
    title: 'Wall',
    mode: 'storage',
  });
  await send(client, 'config/auth/create', { name: 'Anna', group_ids: ['system-users'] });
  await send(client, 'config/core/update', { location_name: 'Villa' });
}

async function makePlaces(client: HubClient): Promise<void> {
  for (const index of list(3, (each) => each)) {
    await send(client, 'config/floor_registry/create', {
      name: `Etage ${index}`,
      level: index - 1,
      icon: 'mdi:stairs',
      aliases: ['hoch', `floor ${index}`],
    });
    await send(client, 'config/label_registry/create', {
      name: `Label ${index}`,
      color: 'indigo',
      icon: 'mdi:tag',
      description: 'Ein Label',
    });
    await send(client, 'config/area_registry/create', {
      name: `Zimmer ${index}`,
      floor_id: `etage_${index}`,
      labels: [`label_${index}`],
      icon: 'mdi:sofa',
      aliases: ['b', 'a'],
    });
    await send(client, 'zone/create', {
      name: `Zone ${index}`,
      latitude: 52.5 + index / 3,
      longitude: -0.1,
      radius: 120,
      passive: index === 1,
      icon: 'mdi:school',
    });
  }
  for (const scope of ['automation', 'script', 'scene', 'helpers'])
    await send(client, 'config/category_registry/create', {
      scope,
      name: `Kategorie ${scope}`,
      icon: 'mdi:home',
    });
}

/** The nine sorts of helpers with their fields, as the dialogues of the UI send them. */
const HELPERS: readonly (readonly [domain: string, fields: (index: number) => object])[] = [
  ['input_boolean', (index) => (index === 0 ? { initial: true } : {})],
  ['input_button', () => ({ icon: 'mdi:bell' })],
  ['input_number', () => ({ min: 0, max: 100, step: 0.5, mode: 'slider', unit_of_measurement: '%' })],
  ['input_text', () => ({ min: 0, max: 20, mode: 'text', pattern: '[a-z]*' })],
  ['input_select', () => ({ options: ['eins', 'zwei', 'on'] })],
  ['input_datetime', (index) => ({ has_date: index % 2 === 0, has_time: true })],
  ['counter', () => ({ initial: 2, step: 2, minimum: 0, maximum: 10, restore: true })],
  ['timer', (index) => ({ duration: `0:0${index}:30`, restore: index === 1 })],
  [
    'schedule',
    () => ({
      monday: [{ from: '07:00:00', to: '08:30:00' }],
      sunday: [{ from: '10:00:00', to: '24:00:00' }],
    }),
  ],
];

async function makeHelpers(client: HubClient): Promise<void> {
  for (const [domain, fields] of HELPERS)
    for (const index of list(domain === 'input_boolean' ? 8 : 4, (each) => each))
      await send(client, `${domain}/create`, { name: `${domain} Größe ${index}`, ...fields(index) });
}

async function makePersons(client: HubClient): Promise<void> {
  const others = { user_id: null, picture: null };
  await send(client, 'person/create', {
    name: 'Björn',
    device_trackers: ['device_tracker.demo_paulus'],
    ...others,
  });
  for (const name of ['Björn', 'Anna-Lena', '光'])
    await send(client, 'person/create', { name, device_trackers: [], ...others });
  await send(client, 'person/update', {
    person_id: 'anna_lena',
    name: 'Anna',
    device_trackers: [],
    ...others,
  });
}

const updateEntity = (client: HubClient, entityId: string, fields: object) =>
  send(client, 'config/entity_registry/update', { entity_id: entityId, ...fields });

async function setEntities(client: HubClient): Promise<void> {
  const { all } = await client.settings.entity.entries();
  const entities = [...all];
  const free = entities.filter(
    ({ deviceId, entityId }) =>
      deviceId === null &&
      !/^(automation|script|scene|input_|counter|timer|schedule|person|zone|tag|todo|conversation)/.test(
        entityId,
      ),
  );
  const ofDevices = entities.filter(
    ({ deviceId, integration }) => deviceId !== null && integration === 'demo',
  );
  for (const [index, { entityId }] of free.slice(0, 20).entries())
    await updateEntity(client, entityId, {
      name: `Mein ${index}`,
      area_id: `zimmer_${index % 3}`,
      labels: [`label_${index % 3}`],
      aliases: [null, `Alias ${index}`],
    });
  for (const [index, { entityId }] of ofDevices.slice(0, 20).entries())
    await updateEntity(client, entityId, { icon: 'mdi:sheep', hidden_by: index % 2 === 0 ? 'user' : null });
  for (const [index, { entityId }] of ofDevices.slice(20, 30).entries())
    await updateEntity(
      client,
      entityId,
      index % 2 === 0 ? { disabled_by: 'user' } : { name: `Gerät ${index}` },
    );
  const automations = entities.filter(({ entityId }) => entityId.startsWith('automation.'));
  for (const { entityId } of automations.slice(0, 5)) {
    const category = await categoryOf(client, 'automation');
    await updateEntity(client, entityId, {
      area_id: 'zimmer_1',
      labels: ['label_1'],
      categories: { automation: category },
    });
  }
  const helpers = entities.filter(({ entityId }) => /^(counter|timer|person)\./.test(entityId));
  const category = await categoryOf(client, 'helpers');
  for (const { entityId } of helpers.slice(0, 6))
    await updateEntity(client, entityId, {
      area_id: 'zimmer_2',
      icon: 'mdi:sheep',
      ...(!entityId.startsWith('person.') && { categories: { helpers: category } }),
    });
  for (const each of ['light.bed_light', 'switch.ac'])
    await send(client, 'homeassistant/expose_entity', {
      assistants: ['conversation'],
      entity_ids: [each],
      should_expose: false,
    });
}

async function categoryOf(client: HubClient, scope: string): Promise<string> {
  const [category] = await send<{ category_id: string }[]>(client, 'config/category_registry/list', {
    scope,
  });
  return category!.category_id;
}

async function setDevices(client: HubClient): Promise<void> {
  const { all } = await client.settings.device.entries();
  const ofDemo = [...all].filter(({ identifiers }) =>
    identifiers.some(([integration]) => integration === 'demo'),
  );
  for (const [index, { id }] of ofDemo.slice(0, 20).entries())
    await send(client, 'config/device_registry/update', {
      device_id: id,
      name_by_user: `Gerät ${index}`,
      area_id: `zimmer_${index % 3}`,
      labels: [`label_${index % 3}`],
    });
}
