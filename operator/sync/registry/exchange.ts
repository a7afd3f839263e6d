import type { RegistryFields } from '../../client/connection/api-types';
import type { HubClient } from '../../client/hub-client';
import type { RegistryEntries } from '../../client/registries/registry';
import { conditionOf } from '../../runtime/conditions';
import { isHeld } from '../still-desired';
import { changesOf, type DesiredEntry } from './desired';
import type { EntryField, EntryResource, EntryType } from './entry-type';
import { idByField, idByIdentity, ownerOf } from './locate-entry';
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
  /** Several resources exchange their values, and each waits for the next one. */
  | { readonly type: 'Cycle' };

/** A value of which each entry has another one. */
interface UniqueValue {
  /** The value that a resource describes. Undefined if it describes none. */
  readonly of: (resource: EntryResource) => string | undefined;
  /** The id of the entry that has a value. */
  readonly holder: (value: string) => string | undefined;
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
  });
}

/**
 * Whether an entry can get its name and its other unique values, such as the user of a person. `released`: the
 * fields of an update with which the entry gives up what another resource of the circle waits for.
 */
export async function exchangeOf(
  changing: Changing & { readonly desired: DesiredEntry },
  client: HubClient,
): Promise<
  Exclude<Availability, { type: 'Cycle' }> | { readonly type: 'Cycle'; readonly released: RegistryFields }
> {
  const { entryType, entries, id, resource, desired } = changing;
  const name = nameAvailability(changing);
  if (name.type === 'Cycle') return { ...name, released: { name: `${resource.spec.name} (${id})` } };
  if (name.type === 'Held') return name;
  for (const [path, field] of Object.entries(entryType.fields)) {
    if (!field.isUnique || !(await isExchanged(changing, path, field, client))) continue;
    const fields = { ...desired.fields, [field.name]: null };
    return { type: 'Cycle', released: changesOf(entryType, entries.get(id)!, { ...desired, fields }, []) };
  }
  return FREE;
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
  return availability(changing, { of: (each) => values.get(each), holder }).type === 'Cycle';
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

function availability(
  { entryType, resource, id, entries, others }: Changing,
  { of, holder }: UniqueValue,
): Availability {
  let first: EntryResource | undefined;
  let next: EntryResource = resource;
  const seen = new Set<string>();
  for (;;) {
    const value = of(next);
    const held = value === undefined ? undefined : holder(value);
    if (first && held === id) return { type: 'Cycle' };
    const owner = held === undefined || held === id ? undefined : ownerOf(entryType, held, entries, others);
    if (!owner || seen.has(owner.metadata.uid)) break;
    first ??= owner;
    if (isHeld(owner) || reportsDrift(owner) || of(owner) === value) break;
    seen.add(owner.metadata.uid);
    next = owner;
  }
  return first ? { type: 'Held', owner: first } : FREE;
}

/** Whether status says that the operator leaves a change of the entry in the hub, so that it keeps its values. */
function reportsDrift(resource: EntryResource): boolean {
  const ready = conditionOf(resource, 'Ready');
  return ready?.reason === 'DriftDetected' && ready.observedGeneration === resource.metadata.generation;
}
