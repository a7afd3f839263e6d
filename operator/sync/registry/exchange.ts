import type { RegistryFields } from '../../client/connection/api-types';
import type { HubClient } from '../../client/hub-client';
import type { RegistryEntries } from '../../client/registries/registry';
import { conditionOf } from '../../runtime/conditions';
import type { ReadyReason } from '../../kinds/reasons';
import { byAge } from '../../runtime/age';
import { isHeld } from '../still-desired';
import { changesOf, type DesiredEntry, entryDiff } from './desired';
import type { EntryField, EntryResource, EntryType } from './entry-type';
import { idByField, idByIdentity, type Lookup, ownerOf, resolveReferences } from './locate-entry';
import { valueAt } from './spec-path';

/** An entry that is about to be changed, and its surroundings. */
interface Changing {
  readonly entryType: EntryType;
  readonly resource: EntryResource;
  /** The id of the resource's entry. */
  readonly id: string;
  readonly entries: RegistryEntries;
  /** The other resources of the same kind and hub. */
  readonly others: readonly EntryResource[];
}

/** Whether a value that an entry is about to get, of which the hub allows no second one, is free. */
type Availability =
  | { readonly type: 'None' }
  /** The entry of another resource has the value until that resource changes it. */
  | { readonly type: 'Held'; readonly owner: EntryResource }
  /** Several resources exchange their values. Each waits for the next one, and the last of `others` for this one. */
  | { readonly type: 'Cycle'; readonly others: readonly EntryResource[] };

/** A value of which each entry has another one. */
interface UniqueValue {
  /** The value that a resource describes. Undefined if it describes none. */
  readonly of: (resource: EntryResource) => string | undefined;
  /** The id of the entry that has a value. */
  readonly holder: (value: string) => string | undefined;
  /** The reason of `Ready` while a resource waits for its value. */
  readonly waits: ReadyReason;
}

const FREE = { type: 'None' } as const;

/** Whether the name of a resource is free, for entries whose identity is their name. */
export function nameAvailability(changing: Changing): Availability {
  const { entryType, entries } = changing;
  const { identity } = entryType;
  if (!identity.isName) return FREE;
  return availability(changing, {
    of: (resource) => identity.of(resource),
    holder: (name) => idByIdentity(entryType, entries, name),
    waits: 'DuplicateId',
  });
}

/**
 * Whether an entry can get its name and its other unique values, such as the user of a person. `released`: the
 * fields of an update with which the entry gives up what another resource of the circle waits for.
 */
export async function exchangeOf(
  changing: Changing & { readonly desired: DesiredEntry },
  lookup: Lookup,
): Promise<
  Exclude<Availability, { type: 'Cycle' }> | { readonly type: 'Cycle'; readonly released: RegistryFields }
> {
  const { entryType, id, resource } = changing;
  const name = nameAvailability(changing);
  if (name.type === 'Held') return name;
  if (name.type === 'Cycle') {
    if (await isAnyUnresolved(entryType, name.others, lookup))
      return { type: 'Held', owner: name.others[0]! };
    return { type: 'Cycle', released: released(changing, 'name', `${resource.spec.name} (${id})`) };
  }
  for (const [path, field] of Object.entries(entryType.fields)) {
    if (!field.isUnique || !(await isExchanged(changing, path, field, lookup.client))) continue;
    return { type: 'Cycle', released: released(changing, field.name, null) };
  }
  return FREE;
}

/** Whether one of the resources waits for an entry that it refers to. */
async function isAnyUnresolved(
  entryType: EntryType,
  resources: readonly EntryResource[],
  lookup: Lookup,
): Promise<boolean> {
  for (const each of resources)
    if ('outcome' in (await resolveReferences(entryType, each, lookup))) return true;
  return false;
}

/**
 * All changes of an entry, with another value in one field. If the hub refuses one of them, the entry keeps its
 * value of that field.
 */
function released(
  { entryType, entries, id, desired }: Changing & { readonly desired: DesiredEntry },
  field: string,
  value: string | null,
): RegistryFields {
  const record = entries.get(id)!;
  const without = { ...desired, fields: { ...desired.fields, [field]: value } };
  return changesOf(entryType, record, without, entryDiff(entryType, record, without));
}

async function isExchanged(
  changing: Changing & { readonly desired: DesiredEntry },
  path: string,
  field: EntryField,
  client: HubClient,
): Promise<boolean> {
  const { entries, id, resource, others, desired } = changing;
  const holder = (value: string) => idByField(entries, field.name, value);
  const value = desired.fields[field.name];
  const held = typeof value === 'string' ? holder(value) : undefined;
  if (held === undefined || held === id) return false;
  const values = new Map<EntryResource, string | undefined>();
  const find = async (each: EntryResource) => values.set(each, await valueOf(client, field, path, each));
  await Promise.all([resource, ...others].map(find));
  const unique: UniqueValue = { of: (each) => values.get(each), holder, waits: 'RejectedByHub' };
  return availability(changing, unique).type === 'Cycle';
}

async function valueOf(
  client: HubClient,
  { lookup }: EntryField,
  path: string,
  { spec }: EntryResource,
): Promise<string | undefined> {
  const value = valueAt(spec, path);
  if (typeof value !== 'string' || !lookup) return undefined;
  return (await lookup.valueOf(client, value)) ?? undefined;
}

function availability(changing: Changing, unique: UniqueValue): Availability {
  const { entryType, resource, id, entries, others } = changing;
  const { of, holder } = unique;
  const circle: EntryResource[] = [];
  for (let next = resource; ;) {
    const value = of(next);
    const held = value === undefined ? undefined : holder(value);
    if (circle.length > 0 && held === id) return { type: 'Cycle', others: circle };
    const owner = held === undefined || held === id ? undefined : ownerOf(entryType, held, entries, others);
    if (!owner || circle.includes(owner)) break;
    circle.push(owner);
    if (of(owner) === value || !isAboutToTake(changing, owner, unique)) break;
    next = owner;
  }
  const [owner] = circle;
  return owner ? { type: 'Held', owner } : FREE;
}

/**
 * Whether the entry of another resource gets its value as soon as that is free. Something else may keep the
 * resource from being written, and it may leave drift, whose status does not report that yet.
 */
function isAboutToTake(
  { entryType, others }: Changing,
  owner: EntryResource,
  { waits }: UniqueValue,
): boolean {
  const { metadata, spec } = owner;
  if (isHeld(owner) || metadata.deletionTimestamp !== undefined) return false;
  if (isDuplicate(entryType, owner, others)) return false;
  const ready = conditionOf(owner, 'Ready');
  const isCurrent = ready?.observedGeneration === metadata.generation;
  if (isCurrent && ready.status !== 'True')
    return ready.reason === waits || ready.reason === entryType.reason;
  return spec.driftPolicy !== 'Warn';
}

/** Whether an older resource has the same identity, so that this one is not written. */
function isDuplicate({ identity }: EntryType, owner: EntryResource, all: readonly EntryResource[]): boolean {
  const own = identity.of(owner);
  return all.some(
    (each) => each !== owner && identity.of(each) === own && byAge(each.metadata, owner.metadata) < 0,
  );
}
