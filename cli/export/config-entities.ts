import type { RegistryEntity } from '../../operator/client/connection/api-types';
import { templateText } from '../../operator/client/connection/answers';
import type { ConfigEntityKind, EntityPayload } from '../../operator/client/connection/config-entity';
import { HubFailed, HubRejected, isUnknownCommand } from '../../operator/client/connection/errors';
import { parseJson } from '../../operator/client/connection/answer-body';
import type { HubClient } from '../../operator/client/hub-client';
import { readLog } from '../../operator/client/setup/log-records';
import { automation, scene, script } from '../../operator/kinds';
import { isMarker } from '../../operator/kinds/ids';
import type { KindDefinition } from '../../operator/kinds/kind';

/** An automation, scene or script in the hub's own file. */
export interface StoredEntity {
  readonly id: string;
  readonly entityId: string;
  readonly payload: EntityPayload;
}

/** An object of the hub that no resource can describe. */
export interface NotExpressed {
  /** Name of the object, such as `automation.porch`. */
  readonly object: string;
  /** Why the object is not exported, as a sentence. */
  readonly reason: string;
  /**
   * The kind that its resource has or would have, with the id of the object in the hub. Absent: no resource can have
   * it, or only a part of it is not expressed.
   */
  readonly of?: { readonly kind: string; readonly domain?: string; readonly id: string };
}

interface ReadEntities {
  readonly stored: readonly StoredEntity[];
  readonly notExpressed: readonly NotExpressed[];
}

/** The kinds of resources by the kinds of objects in the hub. */
export const DEFINITIONS: Readonly<Record<ConfigEntityKind, KindDefinition>> = { automation, scene, script };

const PLATFORMS: Readonly<Record<ConfigEntityKind, string>> = {
  automation: 'automation',
  scene: 'homeassistant',
  script: 'script',
};

/**
 * Most objects that are read from the hub's file, because the hub parses the whole file for each one. Beyond
 * this number, objects whose id the hub itself generated are read from its memory.
 */
const MOST_READ_FROM_FILE = 50;
/** Ids that the hub generates: the milliseconds of the creation, or a random number in hexadecimal digits. */
const ID_OF_HUB = /^(\d{13}|[0-9a-f]{32})$/;
/** Number of concurrent requests. */
const CONCURRENCY = 4;

const OWN_YAML =
  'It is defined in YAML of the hub itself, an include or a package, which the API of the hub does not edit. Move it into automations.yaml, scenes.yaml or scripts.yaml, or write the resource by hand.';
const GONE =
  'It is gone from the YAML of the hub, which still remembers its entity: delete the entity in the hub, under Settings, Devices & services, Entities.';
const UNQUOTED =
  'Its id is a number without quotes, by which the API of the hub does not find it: write it in quotes. If it has quotes, the object is defined in YAML of the hub itself, an include or a package: move it into automations.yaml or scenes.yaml.';
const WITHOUT_ID = 'It has no id: give it one in the YAML of the hub.';
const UNREADABLE =
  'The hub cannot show its file, which is broken or uses !secret: replace each !secret by an input of a blueprint or a helper, or write the resources by hand.';

/**
 * All automations, scenes or scripts of a hub, by id.
 *
 * @param inFile ids that are known to be in the hub's file
 * @throws HubError
 */
export async function readEntities(
  client: HubClient,
  kind: ConfigEntityKind,
  report: (done: number, all: number) => void,
  inFile: ReadonlySet<string> = new Set(),
): Promise<ReadEntities> {
  const all = await client.connection.command('config/entity_registry/list');
  const entities = ofKind(kind, all);
  const known = new Set(all.map(({ entity_id: entityId }) => entityId));
  const states = await idsOfStates(client, kind);
  const withoutId = states.all.filter((entityId) => !known.has(entityId));
  const notExpressed: NotExpressed[] = withoutId.map((object) => ({ object, reason: WITHOUT_ID }));
  const inMemory = await readableFromMemory(client, kind, entities, inFile);
  const first = entities.find(({ entity_id: entityId }) => !inMemory.has(entityId)) ?? entities[0];
  const firstRead = first && (await readUnlessBroken(client, kind, first.unique_id));
  if (firstRead === 'broken')
    return {
      stored: [],
      notExpressed: entities.map((each) => unread(kind, each, UNREADABLE)),
    };
  const stored: StoredEntity[] = [];
  let done = 0;
  await inTurns(entities, async (entity) => {
    const { entity_id: entityId, unique_id: id } = entity;
    const running = inMemory.has(entityId) ? await client.entities.running(entityId) : undefined;
    const found = running ?? (entity === first ? firstRead : await client.entities.read(kind, id));
    report((done += 1), entities.length);
    if (!found) {
      return void notExpressed.push(unread(kind, entity, whyUnread(states, entity)));
    }
    const { id: _, ...payload } = found;
    stored.push({ id, entityId, payload });
  });
  notExpressed.push(...(await loggedObjects(client, kind, stored)));
  return { stored: stored.sort((a, b) => (a.id < b.id ? -1 : 1)), notExpressed };
}

/** The entities of automations, scenes or scripts that the registry has, by unique id. */
const ofKind = (kind: ConfigEntityKind, all: readonly RegistryEntity[]): readonly RegistryEntity[] =>
  all
    .filter(
      ({ entity_id: entityId, platform, unique_id: id }) =>
        entityId.startsWith(`${kind}.`) && platform === PLATFORMS[kind] && !isMarker(id),
    )
    .sort((a, b) => (a.unique_id < b.unique_id ? -1 : 1));

const unread = (
  kind: ConfigEntityKind,
  { entity_id: object, unique_id: id }: RegistryEntity,
  reason: string,
): NotExpressed => ({ object, reason, of: { kind: DEFINITIONS[kind].kind, id } });

/** Why the file lacks an entity that the registry has. */
function whyUnread(
  { restored }: Pick<IdsOfStates, 'restored'>,
  { entity_id: entityId, unique_id: id }: RegistryEntity,
): string {
  if (restored.has(entityId)) return GONE;
  return /^\d+$/.test(id) && !entityId.startsWith('script.') ? UNQUOTED : OWN_YAML;
}

/**
 * Objects in the file that only the hub's log reports, and no API shows. The log keeps only the newest
 * errors.
 */
async function loggedObjects(
  client: HubClient,
  kind: ConfigEntityKind,
  stored: readonly StoredEntity[],
): Promise<readonly NotExpressed[]> {
  const texts = (await readLog(client)).flatMap(({ message }) => message.map((text) => text.trim()));
  return [...doubles(texts, kind, stored), ...(kind === 'automation' ? withNumbersAsId(texts, stored) : [])];
}

/** Objects whose id is also the id of another object in the file. */
const doubles = (
  texts: readonly string[],
  kind: ConfigEntityKind,
  stored: readonly StoredEntity[],
): readonly NotExpressed[] =>
  stored.flatMap(({ entityId: object, id }) => {
    const logged = `does not generate unique IDs. ID ${id} already exists - ignoring ${object}`;
    return texts.some((text) => text.endsWith(logged))
      ? {
          object,
          reason: `By the log of the hub, another ${kind} in its file has the same id ${id}, and the hub ignores it. A change by the hub replaces both: give the other one an id of its own there.`,
        }
      : [];
  });

/**
 * Automations that the hub does not load because their id is not a string. The log may also have errors about
 * automations that were corrected since.
 */
const withNumbersAsId = (
  texts: readonly string[],
  stored: readonly StoredEntity[],
): readonly NotExpressed[] =>
  [...new Set(texts)].flatMap((text) => {
    const [, name, id] =
      /^Automation with (?:alias|ID) '(.*)' could not be validated and has been disabled: expected str (?:at 'id'|for dictionary value @ data\['id'\])\. Got (.*?)\.?$/.exec(
        text,
      ) ?? [];
    const isLoaded = stored.some((each) => each.id === id || [each.id, each.payload['alias']].includes(name));
    return name === undefined || isLoaded
      ? []
      : {
          object: `automation “${name}”`,
          reason: `By the log of the hub, its id ${id} has no quotes, and the hub does not load it: write '${id}' in automations.yaml.`,
        };
  });

/** Reads an object from the hub's file, which the hub itself may be unable to read. */
async function readUnlessBroken(
  { entities }: HubClient,
  kind: ConfigEntityKind,
  id: string,
): Promise<EntityPayload | 'broken' | undefined> {
  try {
    return await entities.read(kind, id);
  } catch (error) {
    if (error instanceof HubFailed) return 'broken';
    throw error;
  }
}

/**
 * The entity ids of objects that can be read from memory instead of the file. Objects that use a blueprint
 * cannot, because it is expanded in memory.
 */
async function readableFromMemory(
  client: HubClient,
  kind: ConfigEntityKind,
  entities: readonly RegistryEntity[],
  inFile: ReadonlySet<string>,
): Promise<ReadonlySet<string>> {
  if (kind === 'scene' || entities.length <= MOST_READ_FROM_FILE) return new Set();
  const fromBlueprints = await usersOfBlueprints(client, kind);
  if (!fromBlueprints) return new Set();
  const chosen = entities.filter(
    ({ entity_id: entityId, unique_id: id, disabled_by: disabledBy }) =>
      (ID_OF_HUB.test(id) || inFile.has(id)) && disabledBy === null && !fromBlueprints.has(entityId),
  );
  return new Set(chosen.map(({ entity_id: entityId }) => entityId));
}

/** The entity ids of objects that use a blueprint; undefined if the hub cannot tell. */
async function usersOfBlueprints(
  { connection }: HubClient,
  domain: 'automation' | 'script',
): Promise<ReadonlySet<string> | undefined> {
  try {
    const paths = Object.keys(await connection.command('blueprint/list', { domain }));
    const users = await Promise.all(
      paths.map((path) =>
        connection.command('search/related', { item_type: `${domain}_blueprint`, item_id: path }),
      ),
    );
    return new Set(users.flatMap((related) => related[domain] ?? []));
  } catch (error) {
    if (isUnknownCommand(error) || error instanceof HubRejected) return undefined;
    throw error;
  }
}

interface IdsOfStates {
  /** The ids of all entities with a state, including those without a unique id, which the registry lacks. */
  readonly all: readonly string[];
  /** Entities that are in the registry but no longer in any YAML file. */
  readonly restored: ReadonlySet<string>;
}

async function idsOfStates({ rest }: HubClient, kind: ConfigEntityKind): Promise<IdsOfStates> {
  const ids = "map(attribute='entity_id') | list";
  const restored = "selectattr('attributes.restored', 'defined')";
  const template = `{{ [states.${kind} | ${ids}, states.${kind} | ${restored} | ${ids}] | to_json }}`;
  const text = await rest.post('/api/template', { template }, { answer: templateText });
  const parsed = parseJson(Buffer.from(text));
  const [all = [], gone = []] = Array.isArray(parsed) ? parsed.map(textsOf) : [];
  return { all, restored: new Set(gone) };
}

const textsOf = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];

async function inTurns<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const queue = [...items];
  const workers = Array.from({ length: CONCURRENCY }, async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) await work(next);
  });
  await Promise.all(workers);
}
