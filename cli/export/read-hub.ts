import type { Clock } from '../../operator/base/clock';
import type { RegistryRecord } from '../../operator/client/connection/api-types';
import {
  categoryScopes,
  collectionTypes,
  type RegistryType,
  registryTypes,
} from '../../operator/client/connection/registry-types';
import { isUnknownCommand } from '../../operator/client/connection/errors';
import type { HubClient } from '../../operator/client/hub-client';
import type { Categories } from '../../operator/client/registries/category-registry';
import type { RegistryEntries } from '../../operator/client/registries/registry';
import { type LookedUpNames, lookedUpNames } from '../../operator/sync/registry/desired';
import { entryKinds, entryTypes } from '../../operator/sync/registry/entry-types';
import { ASSISTANTS } from '../../operator/client/registries/entity-settings';
import { categoryType } from '../../operator/sync/registry/borrowed/declared';
import { readBlueprints } from './blueprints';
import type { IdsInFiles } from './config-copy';
import { type NotExpressed, readEntities } from './config-entities';
import type { HubContent } from './resources';
import type { HubSettings } from './settings';

/** Names of the registries and collections for help texts: `floors, labels, …`. */
export const registryNames = entryKinds.map(({ singular }) => `${singular.replace(/^hub/, '')}s`).join(', ');

/** Reads everything that can be exported, without writing to the hub. @throws HubError */
export async function readHub(
  client: HubClient,
  clock: Clock,
  inFiles: IdsInFiles,
  described: ReadonlySet<string>,
  progress: (text: string) => void,
): Promise<{ readonly content: HubContent; readonly notExpressed: readonly NotExpressed[] }> {
  const read = (kind: 'automation' | 'scene' | 'script') => {
    const start = clock.monotonic();
    const report = (done: number, all: number) =>
      progress(
        `Reading ${kind}s: ${done} of ${all}${remaining((clock.monotonic() - start) * (all / done - 1))}`,
      );
    return readEntities(client, kind, report, inFiles[kind]);
  };
  const automation = await read('automation');
  const scene = await read('scene');
  const script = await read('script');
  progress(`Reading ${registryNames}, integrations, and settings of entities and devices`);
  const entries = await Promise.all(
    registryTypes.map(async (type) => [type, await readRegistry(client, type)] as const),
  );
  const integrations = [...(await client.configEntries.all()).values()];
  const hasEntries = new Set(entries.filter(([, records]) => records.length > 0).map(([type]) => type));
  return {
    content: {
      entities: { automation: automation.stored, scene: scene.stored, script: script.stored },
      entries: Object.fromEntries(entries),
      integrations,
      lookedUp: await readLookedUp(client, hasEntries),
      settings: await readSettings(client),
    },
    notExpressed: [
      ...[automation, scene, script].flatMap(({ notExpressed }) => notExpressed),
      ...(await readBlueprints(client, described)),
    ],
  };
}

/**
 * The remaining time, for the progress display. Reading takes long because the hub parses its whole file for
 * each object with an id that a user chose, unless a copy of the file provides these ids.
 */
export function remaining(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1_000);
  if (seconds < 20) return '';
  return seconds < 90 ? `, about ${seconds} s left` : `, about ${Math.round(seconds / 60)} min left`;
}

/** The records of a registry. @throws HubError */
export const readRegistry = async (
  client: HubClient,
  type: RegistryType,
): Promise<readonly RegistryRecord[]> => [...(await entriesOf(client, type)).values()];

/** The records of a registry by id; none if the hub has not loaded it. @throws HubError */
export async function entriesOf(
  { registries, components }: HubClient,
  type: RegistryType,
): Promise<RegistryEntries> {
  const isCollection = collectionTypes.some((each) => each === type);
  if (isCollection && !(await components.isLoaded(type))) return new Map();
  try {
    return await registries[type].entries();
  } catch (error) {
    if (isUnknownCommand(error)) return new Map(); // this version of the hub lacks the registry
    throw error;
  }
}

/** The names that entries of these types refer to by a lookup. */
async function readLookedUp(client: HubClient, types: ReadonlySet<RegistryType>): Promise<LookedUpNames> {
  const lookedUp = new Map<string, ReadonlyMap<string, string>>();
  for (const entryType of entryTypes.filter(({ type }) => types.has(type)))
    for (const [noun, names] of await lookedUpNames(entryType, client)) lookedUp.set(noun, names);
  return lookedUp;
}

async function readSettings(client: HubClient): Promise<HubSettings> {
  const { connection, settings } = client;
  const facts = await connection.command('config/entity_registry/list');
  const exposesNew: Record<string, boolean> = {};
  for (const [name, assistant] of Object.entries(ASSISTANTS))
    exposesNew[name] = await exposesNewTo(connection, assistant);
  return {
    entities: [...(await settings.entity.entries()).all],
    devices: [...(await settings.device.entries()).all],
    facts: new Map(facts.map((entity) => [entity.entity_id, entity])),
    exposesNew,
    categories: await readCategories(client),
  };
}

async function readCategories({ categories }: HubClient): Promise<HubSettings['categories']> {
  const found = new Map<string, Categories>();
  for (const scope of categoryScopes)
    try {
      found.set(categoryType(scope), await categories.entries(scope));
    } catch (error) {
      if (!isUnknownCommand(error)) throw error; // a hub of a version without categories
    }
  return found;
}

async function exposesNewTo(connection: HubClient['connection'], assistant: string): Promise<boolean> {
  const command = 'homeassistant/expose_new_entities/get';
  try {
    return (await connection.command(command, { assistant })).expose_new;
  } catch (error) {
    if (isUnknownCommand(error)) return false; // this version of the hub lacks the setting
    throw error;
  }
}
