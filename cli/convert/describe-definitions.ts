import type { BoundedTasks } from '../../operator/base/bounded-task';
import { isObject } from '../../operator/base/is-object';
import type { RegistryRecord } from '../../operator/client/connection/api-types';
import { type CollectionType, type RegistryType } from '../../operator/client/connection/registry-types';
import type { ConfigEntityKind } from '../../operator/client/connection/config-entity';
import type { Files } from '../../operator/sync/configuration/generate/config-files';
import type { NotExpressed, StoredEntity } from '../export/config-entities';
import { slugOf } from '../export/names';
import { type Described, describe } from '../export/resources';
import { type Definition, definitionsTask } from './definitions';
import type { HelpersOfYaml } from './helpers-of-yaml';
import { KINDS } from './hub-files';
import { withModernKeys } from './modern-keys';
import { STORED_TYPES } from './sorting';
import { within } from './within';

interface DescribedDefinitions {
  readonly resources: readonly Described[];
  readonly notExpressed: readonly NotExpressed[];
}

/**
 * Describes the definitions in the hub's own files, and the zones and helpers from its UI, as resources.
 *
 * @param inYaml the helpers of the configuration
 * @throws CommandError
 */
export async function describeDefinitions(
  files: Files,
  hub: string,
  inYaml: HelpersOfYaml,
  texts: BoundedTasks,
): Promise<DescribedDefinitions> {
  const defined = await definedIn(files, texts);
  const stored = storedEntries(files, inYaml);
  const { described } = describe(hub, {
    entities: defined.entities,
    entries: stored.entries,
    integrations: [],
  });
  return {
    resources: described.map((each) => (defined.withoutId.has(each.object) ? withoutHubId(each) : each)),
    notExpressed: [...defined.notExpressed, ...stored.notExpressed],
  };
}

interface Defined {
  readonly entities: Readonly<Record<ConfigEntityKind, readonly StoredEntity[]>>;
  /** Entity ids of definitions without an id. */
  readonly withoutId: ReadonlySet<string>;
  readonly notExpressed: readonly NotExpressed[];
}

/** The automations, scenes and scripts in the hub's own files. @throws CommandError */
async function definedIn(files: Files, texts: BoundedTasks): Promise<Defined> {
  const notExpressed: NotExpressed[] = [];
  const entities: Record<ConfigEntityKind, StoredEntity[]> = { automation: [], scene: [], script: [] };
  const withoutId = new Set<string>();
  for (const [name, kind] of Object.entries(KINDS)) {
    if (!Object.hasOwn(files, name)) continue;
    const read = await within(texts, definitionsTask, { kind, text: files[name]! }, name);
    const at = (line: number) => `${name}, line ${line}`;
    const lines = new Map<string, number>();
    for (const { line, reason } of read.unread) notExpressed.push({ object: at(line), reason });
    for (const { id, line, payload } of read.definitions) {
      const former = id === undefined ? undefined : lines.get(id);
      if (former !== undefined) {
        const reason = `The one in line ${former} has the same id ${id}, and the hub ignores this one: give it an id of its own.`;
        notExpressed.push({ object: at(line), reason });
        continue;
      }
      const entityId = `${entityIdOf(kind, payload, id)} (${at(line)})`;
      if (id === undefined) withoutId.add(entityId);
      else lines.set(id, line);
      entities[kind].push({ id: id ?? at(line), entityId, payload: withModernKeys(payload) });
    }
  }
  return { entities, withoutId, notExpressed };
}

/** The zones and helpers that users have made in the UI, and the helpers of the configuration. */
function storedEntries(
  files: Files,
  inYaml: HelpersOfYaml,
): {
  readonly entries: Partial<Record<RegistryType, readonly RegistryRecord[]>>;
  readonly notExpressed: readonly NotExpressed[];
} {
  const notExpressed: NotExpressed[] = [];
  const entries: Partial<Record<RegistryType, readonly RegistryRecord[]>> = {};
  for (const type of STORED_TYPES) {
    const file = `.storage/${type}`;
    const stored = storedIn(files[file], type);
    if (!stored) notExpressed.push({ object: file, reason: CUT_OFF });
    const [hidden, shown] = parted(stored ?? [], (each) => inYaml.has(`${type}.${String(each['id'])}`));
    for (const { id } of hidden) notExpressed.push({ object: `${type} ${String(id)}`, reason: HIDDEN });
    entries[type] = [...shown, ...inYaml.records(type)];
  }
  return { entries, notExpressed };
}

/** Removes `hubId`, so that the operator derives an id from the name of the resource. */
function withoutHubId({ resource, ...rest }: Described): Described {
  const { hubId: _, ...spec } = resource.spec;
  return { ...rest, resource: { ...resource, spec } };
}

const CUT_OFF =
  'It is no JSON, so that what the UI made cannot be read: copy it again while the hub is stopped, or take it from a backup.';

const HIDDEN =
  'The configuration has a helper of this id, which the hub uses instead: remove one of the two.';

function parted<T>(items: readonly T[], isFirst: (item: T) => boolean): readonly [T[], T[]] {
  return [items.filter(isFirst), items.filter((each) => !isFirst(each))];
}

/**
 * The entries that users have made in the UI; zones of the section `zone:` stay in the configuration. @returns
 * undefined if the stored file is incomplete
 */
function storedIn(text = '{}', type: CollectionType): readonly RegistryRecord[] | undefined {
  let stored: unknown;
  try {
    stored = JSON.parse(text);
  } catch {
    return undefined;
  }
  const data = isObject(stored) && isObject(stored['data']) ? stored['data'] : {};
  const items: readonly unknown[] = Array.isArray(data['items']) ? data['items'] : [];
  return items
    .filter(isObject)
    .filter(({ id, name }) => typeof id === 'string' && typeof name === 'string')
    .map((each) => ({ ...each, [`${type}_id`]: each['id'] }) as unknown as RegistryRecord);
}

/** The entity id that the hub derives from the alias. */
function entityIdOf(kind: ConfigEntityKind, payload: Definition['payload'], id: string | undefined): string {
  const alias = payload['alias'] ?? payload['name'] ?? id;
  return `${kind}.${slugOf(typeof alias === 'string' ? alias : 'object').replaceAll('-', '_')}`;
}
