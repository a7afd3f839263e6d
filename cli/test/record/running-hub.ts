import { templateText } from '../../../operator/client/connection/answers';
import { HubFailed, HubRejected, isUnknownCommand } from '../../../operator/client/connection/errors';
import { parseJson } from '../../../operator/client/connection/rest';
import { checked, nullable, number, object, optional, text } from '../../../operator/client/connection/shape';
import { listComponents } from '../../../operator/client/services';
import type { ConfigEntityKind } from '../../../operator/client/connection/config-entity';
import type { CoreConfig, RegistryRecord } from '../../../operator/client/connection/api-types';
import type { RegistryType } from '../../../operator/client/connection/registry-types';
import type { HubClient } from '../../../operator/client/hub-client';
import { getConfig } from '../../../operator/client/setup/core';
import { isObject } from '../../../operator/base/is-object';
import { CommandError } from '../../command-error';
import { type NotExpressed, readEntities, type StoredEntity } from '../../export/config-entities';
import type { Given, Home, Location, Payload } from '../protocol';

/** What a hub runs now, as the simulation takes it. */
export interface RunningHub {
  readonly version: string;
  readonly location: Location;
  readonly definitions: Readonly<Record<ConfigEntityKind, readonly StoredEntity[]>>;
  /** Objects that the API of the hub does not show. */
  readonly notExpressed: readonly NotExpressed[];
  readonly places: Pick<Home, 'zones' | 'floors' | 'labels' | 'areas'>;
  /** Automations that are off, by entity id. */
  readonly off: ReadonlySet<string>;
  /** Entity ids of all states. */
  readonly entities: readonly string[];
  /** Area and labels of the entities that have some, by their names. */
  readonly placed: Readonly<Record<string, Given>>;
}

const NEEDED = ['recorder', 'history'] as const;

/**
 * Reads what a hub runs. It writes nothing.
 *
 * @throws CommandError it keeps no history
 * @throws HubError
 */
export async function readRunningHub(
  client: HubClient,
  name: string,
  progress: (text: string) => void,
): Promise<RunningHub> {
  const components = await listComponents(client.rest);
  const missing = NEEDED.filter((each) => !components.includes(each));
  if (missing.length > 0)
    throw new CommandError(
      `the hub of the Hub ${name} has no ${missing.join(' and no ')}, so that there is nothing to compare with: add default_config: or ${missing.map((each) => `${each}:`).join(' and ')} to its configuration`,
    );
  const config = await getConfig(client.rest);
  const read = (kind: ConfigEntityKind) =>
    readEntities(client, kind, (done, all) => progress(`Reading ${kind}s of the hub: ${done} of ${all}`));
  const automation = await read('automation');
  const script = await read('script');
  const scene = await read('scene');
  return {
    version: versionOf(config),
    location: locationOf(config),
    definitions: { automation: automation.stored, script: script.stored, scene: scene.stored },
    notExpressed: [automation, script, scene].flatMap(({ notExpressed }) => notExpressed),
    places: await placesOf(client),
    off: new Set(await idsBy(client, "states.automation | selectattr('state', 'eq', 'off')")),
    entities: await idsBy(client, 'states'),
    placed: await placedEntities(client),
  };
}

/** The simulated hub takes each of them as it is. */
const place = object({
  time_zone: text,
  latitude: number,
  longitude: number,
  elevation: number,
  country: optional(nullable(text)),
  language: optional(text),
  currency: optional(text),
});

/** @throws HubFailed */
function locationOf(config: CoreConfig): Location {
  const { time_zone: timezone, country, language, currency, ...where } = checked(CONFIG, config, place);
  return {
    timezone,
    ...{ latitude: where.latitude, longitude: where.longitude, elevation: where.elevation },
    ...(country != null && { country }),
    ...(language !== undefined && { language }),
    ...(currency !== undefined && { currency }),
    unitSystem: config.unit_system['length'] === 'mi' ? 'us_customary' : 'metric',
  };
}

/**
 * The version of a hub, which becomes the tag of an image and a word of the report.
 *
 * @throws HubFailed
 */
function versionOf({ version }: CoreConfig): string {
  if (!/^\d{4}\.\d{1,2}\.[0-9a-z.]+$/.test(version))
    throw new HubFailed(`the hub answered ${CONFIG} with another text than a version`);
  return version;
}

const CONFIG = 'GET /api/config';

async function jsonOf(client: HubClient, template: string): Promise<unknown> {
  return parseJson(
    Buffer.from(await client.rest.post('/api/template', { template }, { answer: templateText })),
  );
}

async function idsBy(client: HubClient, states: string): Promise<readonly string[]> {
  return entitiesIn(await jsonOf(client, `{{ ${states} | map(attribute='entity_id') | list | to_json }}`));
}

const textsIn = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];

/** A hub that is broken may name others, which the simulated hub does not take. */
const entitiesIn = (value: unknown): readonly string[] => textsIn(value).filter((each) => ENTITY.test(each));
/** As Home Assistant checks it: with no double underscore, and none at an end. */
const ENTITY = /^(?!.+__)(?!_)[\da-z_]+(?<!_)\.(?!_)[\da-z_]+(?<!_)$/;

/** The members of all areas or labels as pairs of a name and entity ids; an area has those of its devices as well. */
const membersOf = (kind: 'area' | 'label'): string =>
  `{% set found = namespace(all=[]) %}{% for each in ${kind}s() %}` +
  `{% set found.all = found.all + [[${kind}_name(each), ${kind}_entities(each)]] %}{% endfor %}{{ found.all | to_json }}`;

async function placedEntities(client: HubClient): Promise<Readonly<Record<string, Given>>> {
  const placed = new Map<string, { area?: string; labels?: string[] }>();
  for (const kind of ['area', 'label'] as const) {
    const pairs = await jsonOf(client, membersOf(kind));
    for (const pair of Array.isArray(pairs) ? pairs : []) {
      const [name, members] = Array.isArray(pair) ? (pair as readonly unknown[]) : [];
      if (typeof name !== 'string') continue;
      for (const entity of entitiesIn(members)) {
        const given = placed.get(entity) ?? {};
        if (kind === 'area') given.area = name;
        else given.labels = [...(given.labels ?? []), name];
        placed.set(entity, given);
      }
    }
  }
  return Object.fromEntries(placed);
}

const FIELDS = {
  zone: ['name', 'latitude', 'longitude', 'radius', 'icon', 'passive'],
  floor: ['name', 'icon', 'level', 'aliases'],
  label: ['name', 'icon', 'color', 'description'],
  area: ['name', 'icon', 'picture', 'aliases'],
} as const satisfies Record<RegistryType, readonly string[]>;

async function placesOf(client: HubClient): Promise<RunningHub['places']> {
  const [zones, floors, labels, areas] = await Promise.all(
    (['zone', 'floor', 'label', 'area'] as const).map((type) => client.registries[type].entries()),
  );
  const fields = (type: RegistryType, record: RegistryRecord): Payload =>
    Object.fromEntries(FIELDS[type].flatMap((name) => (record[name] == null ? [] : [[name, record[name]]])));
  const plain = (type: RegistryType, records: ReadonlyMap<string, RegistryRecord>) =>
    [...records.values()].map((each) => fields(type, each));
  return {
    zones: plain('zone', zones!),
    floors: plain('floor', floors!),
    labels: plain('label', labels!),
    areas: [...areas!.values()].map((each) => ({
      ...fields('area', each),
      ...(typeof each['floor_id'] === 'string' && { floor: floors!.get(each['floor_id'])?.name }),
      labels: textsIn(each['labels']).map((id) => labels!.get(id)?.name ?? id),
    })),
  };
}

/** The definition without its blueprint, as the hub expands it; the same one if it has none, or if the hub cannot. */
export async function expanded(
  { entities }: HubClient,
  domain: 'automation' | 'script',
  definition: Payload,
): Promise<Payload> {
  const { use_blueprint: used, ...own } = definition;
  if (!isObject(used) || typeof used['path'] !== 'string') return definition;
  const input = isObject(used['input']) ? used['input'] : {};
  try {
    return { ...(await entities.expandedBlueprint(domain, { path: used['path'], input })), ...own };
  } catch (error) {
    // The runner names the blueprint that is missing.
    if (error instanceof HubFailed || error instanceof HubRejected || isUnknownCommand(error))
      return definition;
    throw error;
  }
}
