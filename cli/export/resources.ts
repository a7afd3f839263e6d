import type { RegistryRecord } from '../../operator/client/connection/api-types';
import type { RegistryType } from '../../operator/client/connection/registry-types';
import type { ConfigEntry } from '../../operator/client/connection/flow-step';
import type { ConfigEntityKind } from '../../operator/client/connection/config-entity';
import { integration } from '../../operator/kinds';
import { GROUP_VERSION } from '../../operator/kinds/group';
import type { KindDefinition } from '../../operator/kinds/kind';
import { automationSpecOf, sceneSpecOf, scriptSpecOf } from '../../operator/sync/config-entities/spec-of';
import { ownLabels } from '../../operator/sync/objects/own-labels';
import { entryKinds, type EntryType, entryTypes } from '../../operator/sync/registry/entry-types';
import { madeEntity } from '../settings/own-entity';
import { entrySpecOf, type LookedUpNames, type NameOfEntry } from '../../operator/sync/registry/desired';
import { DEFINITIONS, type NotExpressed, type StoredEntity } from './config-entities';
import { Names } from './names';
import { domainOf, NO_RESOURCES, type Present } from './present';
import { describeSettings, type HubSettings, ownEntitySpec } from './settings';

type Fields = Readonly<Record<string, unknown>>;

/** A resource that describes an object of a hub, before it is checked. */
export interface Described {
  /** Name of the object in the hub, such as `automation.porch` or `floor ground`. */
  readonly object: string;
  /** Id of the object in the hub, as status of its resource has it. */
  readonly id: string;
  readonly definition: KindDefinition;
  /**
   * Path of the file below the folder of the export. Default: the folder of the kind, and the name of the
   * resource.
   */
  readonly path?: string;
  /** A warning to read before the file is published, as a sentence. */
  readonly warning?: string;
  readonly resource: {
    readonly apiVersion: string;
    readonly kind: string;
    readonly metadata: { readonly name: string };
    readonly spec: Fields;
  };
}

/** All objects of a hub that can be exported. */
export interface HubContent {
  readonly entities: Readonly<Record<ConfigEntityKind, readonly StoredEntity[]>>;
  /** Absent: none. */
  readonly entries: Readonly<Partial<Record<RegistryType, readonly RegistryRecord[]>>>;
  readonly integrations: readonly ConfigEntry[];
  /** The names that entries refer to by a lookup. Absent: none. */
  readonly lookedUp?: LookedUpNames;
  /** Absent if the source is files of the hub, which do not contain settings. */
  readonly settings?: HubSettings;
}

/**
 * Labels with which the operator marks objects. They are not exported, because the operator creates them
 * itself.
 */
const OWN_LABELS: readonly string[] = Object.values(ownLabels);

const SPECS: Readonly<Record<ConfigEntityKind, (stored: StoredEntity) => Fields>> = {
  automation: ({ payload }) => automationSpecOf(payload),
  scene: ({ payload }) => sceneSpecOf(payload),
  script: ({ payload, id }) => scriptSpecOf(payload, id),
};

/**
 * Sorts `light_2` before `light_10`: of several objects with one alias, the one without a number in its
 * entity id gets the name without a number.
 */
const byNumber = new Intl.Collator('en', { numeric: true });

/** Sources of config entries that neither a user nor the configuration created. */
const OF_HUB_ITSELF: ReadonlySet<string> = new Set(['system', 'ignore']);

/** Names and settings to which the resources of a hub refer. */
interface References {
  readonly nameOf: NameOfEntry;
  readonly settings: HubSettings | undefined;
  readonly present: Present;
}

/** The objects of a hub as resources, and those that no resource can describe. */
export interface DescribedHub {
  readonly described: readonly Described[];
  readonly notExpressed: readonly NotExpressed[];
}

/**
 * The resources for the content of a hub, named after aliases, in the order of kinds and ids.
 *
 * @param present resources of the cluster, whose names are not given again, and to which files refer
 */
export function describe(
  hub: string,
  { entities, entries, integrations, lookedUp, settings }: HubContent,
  present = NO_RESOURCES,
): DescribedHub {
  const nameOf = (type: string, id: string) =>
    lookedUp?.get(type)?.get(id) ??
    settings?.categories.get(type)?.get(id) ??
    nameOfEntry(entries, type as RegistryType, id);
  const references = { nameOf, settings, present };
  const described = [
    ...entryKinds.flatMap(({ kind }) => describeEntries(hub, kind, entries, references)),
    ...Object.keys(SPECS).flatMap((kind) =>
      describeEntities(hub, kind as ConfigEntityKind, entities, references),
    ),
  ];
  const found = describeIntegrations(hub, integrations, present);
  const others = settings
    ? describeSettings(settings, {
        integrations,
        names: found.names,
        nameOf,
        present,
        made: madeEntityIds({ entities, entries }, settings),
      })
    : { described: [], notExpressed: [] };
  return {
    described: [
      ...described,
      ...found.described,
      ...others.described.map(({ object, id, definition, name, spec, ...file }) => ({
        ...resourceOf(hub, definition, { object, id }, name, spec),
        ...file,
      })),
    ],
    notExpressed: [...found.notExpressed, ...others.notExpressed],
  };
}

function describeEntities(
  hub: string,
  kind: ConfigEntityKind,
  entities: HubContent['entities'],
  { nameOf, settings, present }: References,
): readonly Described[] {
  const definition = DEFINITIONS[kind];
  const all = entities[kind].map((stored) => ({ stored, spec: SPECS[kind](stored) }));
  const names = new Names(present.namesOf(definition.kind));
  const resourceNames = new Map(
    all
      .toSorted((a, b) => byNumber.compare(a.stored.entityId, b.stored.entityId))
      .map(({ stored: { id }, spec }) => [
        id,
        present.ownerOf({ kind: definition.kind, id }) ?? names.take(spec['alias'] ?? spec['name'], id),
      ]),
  );
  return all.map(({ stored: { id, entityId }, spec }) =>
    resourceOf(hub, definition, { object: entityId, id }, resourceNames.get(id)!, {
      hubId: id,
      ...spec,
      ...(settings && ownEntitySpec(definition.kind, entityId, settings, nameOf)),
    }),
  );
}

const entryIdIn = (type: RegistryType, record: RegistryRecord) => record[`${type}_id`] as string;

/** The name of a registry entry, if files may refer to it. */
const nameOfEntry = (entries: HubContent['entries'], type: RegistryType, id: string): string | undefined =>
  entries[type]?.find((record) => entryIdIn(type, record) === id && !isOwnLabel(type, record))?.name;

function describeEntries(
  hub: string,
  kind: string,
  entries: HubContent['entries'],
  { nameOf, settings, present }: References,
): readonly Described[] {
  const names = new Names(present.namesOf(kind));
  return entryTypes
    .filter(({ definition }) => definition.kind === kind)
    .flatMap((entryType) => {
      const { type, definition } = entryType;
      return (entries[type] ?? [])
        .filter((record) => !isOwnLabel(type, record))
        .toSorted((a, b) => (entryIdIn(type, a) < entryIdIn(type, b) ? -1 : 1))
        .map((record) => {
          const id = entryIdIn(type, record);
          const entityId = settings && madeEntityId(entryType, id, settings);
          const spec = {
            ...entrySpecOf(entryType, record, nameOf),
            ...(settings && ownEntitySpec(kind, entityId, settings, nameOf)),
          };
          const owner = present.ownerOf({ kind, domain: domainOf({ kind, spec }), id });
          const name = owner ?? names.take(record.name, id);
          return resourceOf(hub, definition, { object: `${type} ${id}`, id }, name, spec);
        });
    });
}

/** The entity of an entry whose resource has the settings of that. */
function madeEntityId(
  { definition: { ownEntity }, component }: EntryType,
  id: string,
  { entities }: HubSettings,
): string | undefined {
  return ownEntity && component && madeEntity(ownEntity, component, id, entities)?.entityId;
}

/** Ids of the entities of definitions and entries, whose resources have the settings themselves. */
function madeEntityIds(
  { entities, entries }: Pick<HubContent, 'entities' | 'entries'>,
  settings: HubSettings,
): ReadonlySet<string> {
  const ofDefinitions = Object.values(entities).flat();
  const ofEntries = entryTypes.flatMap((entryType) =>
    (entries[entryType.type] ?? []).map((each) =>
      madeEntityId(entryType, entryIdIn(entryType.type, each), settings),
    ),
  );
  return new Set([
    ...ofDefinitions.map(({ entityId }) => entityId),
    ...ofEntries.filter((each) => each !== undefined),
  ]);
}

const isOwnLabel = (type: RegistryType, { name }: RegistryRecord): boolean =>
  type === 'label' && OWN_LABELS.includes(name);

function describeIntegrations(
  hub: string,
  entries: readonly ConfigEntry[],
  present: Present,
): DescribedHub & {
  /** Names of the resources by the ids of the entries. */
  readonly names: ReadonlyMap<string, string>;
} {
  const names = new Names(present.namesOf(integration.kind));
  const nameOf = new Map<string, string>();
  const described: Described[] = [];
  const notExpressed: NotExpressed[] = [];
  const key = ({ domain, title }: ConfigEntry) => JSON.stringify([domain, title]);
  const own = entries
    .filter(({ source }) => !OF_HUB_ITSELF.has(source))
    .sort((a, b) => (key(a) + a.entry_id < key(b) + b.entry_id ? -1 : 1));
  for (const entry of own) {
    const { domain, title, disabled_by: disabledBy } = entry;
    const object = `integration ${domain} “${title}”`;
    const of = { kind: integration.kind, id: entry.entry_id };
    const owner = present.ownerOf(of);
    if (owner !== undefined) nameOf.set(of.id, owner);
    else if (own.filter((each) => key(each) === key(entry)).length > 1)
      notExpressed.push({
        object,
        reason: 'Another entry of this integration has the same title: rename one of them in the hub.',
        of,
      });
    else {
      const name = names.take(`${domain} ${title}`, of.id);
      const spec = { domain, title, ...(disabledBy !== null && { enabled: false }) };
      nameOf.set(of.id, name);
      described.push(resourceOf(hub, integration, { object, id: of.id }, name, spec));
    }
  }
  return { described, notExpressed, names: nameOf };
}

function resourceOf(
  hub: string,
  definition: KindDefinition,
  of: Pick<Described, 'object' | 'id'>,
  name: string,
  spec: Fields,
): Described {
  return {
    ...of,
    definition,
    resource: {
      apiVersion: GROUP_VERSION,
      kind: definition.kind,
      metadata: { name },
      spec: { hubRef: { name: hub }, ...spec },
    },
  };
}
