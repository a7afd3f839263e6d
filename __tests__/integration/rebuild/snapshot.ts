import { isDeepStrictEqual } from 'node:util';
import { categoryScopes } from '../../../operator/client/connection/registry-types';
import type { HubClient } from '../../../operator/client/hub-client';
import { helperDomains } from '../../../operator/kinds/helper/domains';
import { send } from './home-of-a-household';

type Entry = Readonly<Record<string, unknown>>;
/** Names by random ids. */
type Names = ReadonlyMap<string, string>;
/** The entries of one list of the hub, by keys that stay when the home is set up again. */
type Listed = Readonly<Record<string, unknown>>;

/** All lists of a hub that its API has of a home. Random ids are replaced by the names of what they stand for; times are left out. */
export async function snapshotOf(client: HubClient): Promise<Readonly<Record<string, Listed>>> {
  const names = await namesOf(client);
  const entities = await entitiesOf(client);
  return {
    floor: byKey(await entries(client, 'config/floor_registry/list'), 'floor_id', names),
    label: byKey(await entries(client, 'config/label_registry/list'), 'label_id', names),
    area: byKey(await entries(client, 'config/area_registry/list'), 'area_id', names),
    ...(await categories(client)),
    zone: byKey(await entries(client, 'zone/list'), 'id', names),
    person: byKey((await send<{ storage: Entry[] }>(client, 'person/list')).storage, 'id', names),
    ...(await helpers(client, names)),
    entity: byKey(entities, 'entity_id', names),
    device: devicesOf(await entries(client, 'config/device_registry/list'), names),
    ...(await definitions(client, entities)),
    ...(await blueprints(client)),
    tag: byKey(await entries(client, 'tag/list'), 'id', names),
    dashboard: byKey(await entries(client, 'lovelace/dashboards/list'), 'url_path', names),
    user: byKey(await people(client), 'name', names),
    energy: await energy(client),
    'core settings': coreSettings(await send(client, 'get_config')),
    exposure: (await send<{ exposed_entities: Listed }>(client, 'homeassistant/expose_entity/list'))
      .exposed_entities,
  };
}

const entries = (client: HubClient, type: string, fields: object = {}) => send<Entry[]>(client, type, fields);

/** Names by random ids: of devices, config entries, users and categories. */
async function namesOf(client: HubClient): Promise<Names> {
  const names = new Map<string, string>();
  for (const { entry_id, domain, title } of await entries(client, 'config_entries/get'))
    names.set(String(entry_id), `entry ${String(domain)} ${String(title)}`);
  for (const { id, username } of await entries(client, 'config/auth/list'))
    names.set(String(id), `user ${String(username)}`);
  for (const scope of categoryScopes)
    for (const { category_id, name } of await entries(client, 'config/category_registry/list', { scope }))
      names.set(String(category_id), `category ${String(name)}`);
  for (const device of await entries(client, 'config/device_registry/list'))
    names.set(String(device['id']), deviceKey(device, names));
  return names;
}

const deviceKey = ({ identifiers, connections, name }: Entry, names: Names): string =>
  `device ${JSON.stringify(normal((identifiers as unknown[]).length > 0 ? identifiers : [connections, name], names, 'identifiers'))}`;

async function categories(client: HubClient): Promise<Record<string, Listed>> {
  const all: Record<string, Listed> = {};
  for (const scope of categoryScopes) {
    const found = await entries(client, 'config/category_registry/list', { scope });
    all[`category of ${scope}`] = Object.fromEntries(found.map(({ name, icon }) => [String(name), icon]));
  }
  return all;
}

async function helpers(client: HubClient, names: Names): Promise<Record<string, Listed>> {
  const all: Record<string, Listed> = {};
  for (const domain of Object.values(helperDomains))
    all[domain] = byKey(await entries(client, `${domain}/list`), 'id', names);
  return all;
}

/** The list lacks aliases and options, which only the whole entries have. */
async function entitiesOf(client: HubClient): Promise<Entry[]> {
  const listed = await entries(client, 'config/entity_registry/list');
  const entity_ids = listed.map(({ entity_id }) => entity_id);
  return Object.values(
    await send<Record<string, Entry>>(client, 'config/entity_registry/get_entries', { entity_ids }),
  );
}

function devicesOf(devices: readonly Entry[], names: Names): Listed {
  return Object.fromEntries(devices.map((device) => [deviceKey(device, names), normal(device, names)]));
}

async function definitions(client: HubClient, entities: readonly Entry[]): Promise<Record<string, Listed>> {
  const all: Record<string, Record<string, unknown>> = { automation: {}, script: {}, scene: {} };
  for (const { entity_id, unique_id } of entities) {
    const kind = String(entity_id).split('.')[0]! as 'automation' | 'script' | 'scene';
    const id = String(unique_id);
    if (all[kind]) all[kind][id] = withoutDefaults((await client.entities.read(kind, id)) ?? {});
  }
  return all;
}

/** Values that the editor writes, and that mean the same as none. */
const DEFAULTS: Entry = { description: '', mode: 'single', max_exceeded: 'warning', conditions: [] };

const withoutDefaults = (definition: object): object =>
  Object.fromEntries(
    Object.entries(definition).filter(([name, value]) => !isDeepStrictEqual(value, DEFAULTS[name])),
  );

/** Some users are made by the hub for its add-ons and its cloud. */
const people = async (client: HubClient): Promise<Entry[]> =>
  (await entries(client, 'config/auth/list')).filter(({ system_generated }) => !system_generated);

/** A hub without settings of energy answers with an error. */
const energy = (client: HubClient): Promise<Listed> =>
  send<Listed>(client, 'energy/get_prefs').catch(() => ({}));

/** The core settings of the home, without facts about the process of the hub. */
function coreSettings(config: Entry): Listed {
  const {
    location_name,
    latitude,
    longitude,
    elevation,
    unit_system,
    time_zone,
    language,
    country,
    currency,
  } = config;
  return {
    location_name,
    latitude,
    longitude,
    elevation,
    unit_system,
    time_zone,
    language,
    country,
    currency,
  };
}

async function blueprints(client: HubClient): Promise<Record<string, Listed>> {
  const all: Record<string, Listed> = {};
  for (const domain of ['automation', 'script'])
    all[`blueprint of ${domain}`] = await send(client, 'blueprint/list', { domain });
  return all;
}

function byKey(found: readonly Entry[], key: string, names: Names): Listed {
  return Object.fromEntries(found.map((each) => [String(each[key]), normal(each, names)]));
}

/** Random ids, times, and a hash that the hub derives from the other fields. */
const CHANCE = ['created_at', 'modified_at', 'id', 'device_id', 'collection'];

/** Lists without an order. That of others counts, such as of the options of a helper. */
const SETS = ['labels', 'aliases', 'config_entries', 'identifiers', 'connections'];

/** @param field name of the value */
function normal(value: unknown, names: Names, field = ''): unknown {
  if (Array.isArray(value)) {
    const items = value.map((each) => normal(each, names));
    return SETS.includes(field) ? items.sort(inOrder) : items;
  }
  if (typeof value === 'string') return named(value, names);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => !CHANCE.includes(name))
      .map(([name, each]) => [names.get(name) ?? name, normal(each, names, name)]),
  );
}

/** Some integrations make unique ids and identifiers of the id of their config entry. */
function named(text: string, names: Names): string {
  const [id = ''] = /[0-9A-Z]{26}/.exec(text) ?? [];
  return names.get(text) ?? text.replace(id, names.get(id) ?? id);
}

const inOrder = (a: unknown, b: unknown): number => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);
