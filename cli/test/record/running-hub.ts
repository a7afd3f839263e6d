import { templateText } from '../../../operator/client/connection/answers';
import { HubFailed, HubRejected, isUnknownCommand } from '../../../operator/client/connection/errors';
import { parseJson } from '../../../operator/client/connection/answer-body';
import { checked, nullable, number, object, optional, text } from '../../../operator/client/connection/shape';
import { listComponents } from '../../../operator/client/services';
import type { ConfigEntityKind } from '../../../operator/client/connection/config-entity';
import type { CoreConfig, RegistryRecord } from '../../../operator/client/connection/api-types';
import type { RegistryType } from '../../../operator/client/connection/registry-types';
import type { HubClient } from '../../../operator/client/hub-client';
import { getConfig } from '../../../operator/client/setup/core';
import { isObject } from '../../../operator/base/is-object';
import { helperDomains } from '../../../operator/kinds/helper/domains';
import { CommandError } from '../../command-error';
import { type NotExpressed, readEntities, type StoredEntity } from '../../export/config-entities';
import { readRegistry } from '../../export/read-hub';
import type { Given, Home, Location, Payload } from '../protocol';

/** The current content of a hub, in the form that the simulation needs. */
export interface RunningHub {
  readonly version: string;
  readonly location: Location;
  readonly definitions: Readonly<Record<ConfigEntityKind, readonly StoredEntity[]>>;
  /** Objects that the hub's API does not show. */
  readonly notExpressed: readonly NotExpressed[];
  readonly places: Pick<Home, 'zones' | 'floors' | 'labels' | 'areas'>;
  /** The helpers that are not part of its YAML. */
  readonly helpers: Home['helpers'];
  /** Entity ids of the automations that are turned off. */
  readonly off: ReadonlySet<string>;
  /** Entity ids of all states. */
  readonly entities: readonly string[];
  /** Area and labels by entity id, for entities that have any. Both are names. */
  readonly placed: Readonly<Record<string, Given>>;
}

const NEEDED = ['recorder', 'history'] as const;

/**
 * Reads the content of a hub without writing to it.
 *
 * @throws CommandError the hub keeps no history
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
    helpers: await helpersOf(client),
    off: new Set(await idsBy(client, "states.automation | selectattr('state', 'eq', 'off')")),
    entities: await idsBy(client, 'states'),
    placed: await placedEntities(client),
  };
}

/** The location fields, whose types are checked because the simulated hub uses the values without a check. */
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
 * The version of a hub. It is validated, because it becomes an image tag and part of the report.
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

/** Valid entity ids. A faulty hub may return invalid ones, which the simulated hub would not accept. */
const entitiesIn = (value: unknown): readonly string[] => textsIn(value).filter((each) => ENTITY.test(each));
/** Home Assistant's own check: no double underscore, and no underscore at either end. */
const ENTITY = /^(?!.+__)(?!_)[\da-z_]+(?<!_)\.(?!_)[\da-z_]+(?<!_)$/;

/**
 * A template for the members of all areas or labels, as pairs of a name and entity ids. An area includes the
 * entities of its devices.
 */
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
} as const satisfies Partial<Record<RegistryType, readonly string[]>>;

type Place = keyof typeof FIELDS;

async function placesOf(client: HubClient): Promise<RunningHub['places']> {
  const [zones, floors, labels, areas] = await Promise.all(
    (['zone', 'floor', 'label', 'area'] as const).map((type) => client.registries[type].entries()),
  );
  const fields = (type: Place, record: RegistryRecord): Payload =>
    Object.fromEntries(FIELDS[type].flatMap((name) => (record[name] == null ? [] : [[name, record[name]]])));
  const plain = (type: Place, records: ReadonlyMap<string, RegistryRecord>) =>
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

async function helpersOf(client: HubClient): Promise<RunningHub['helpers']> {
  const found = await Promise.all(
    Object.values(helperDomains).map(async (domain) =>
      (await readRegistry(client, domain)).map((record) => ({ domain, item: itemOf(record, domain) })),
    ),
  );
  return found.flat();
}

/** The record as the hub stores it. The operator’s copies name the id of a collection’s record after its type. */
function itemOf(record: RegistryRecord, domain: RegistryType): Payload {
  const { [`${domain}_id`]: id, ...fields } = record;
  return { ...fields, id };
}

/**
 * The definition with its blueprint expanded by the hub. A definition without a blueprint, or one that the
 * hub cannot expand, is returned unchanged.
 */
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
    // The Python program reports a missing blueprint.
    if (error instanceof HubFailed || error instanceof HubRejected || isUnknownCommand(error))
      return definition;
    throw error;
  }
}
