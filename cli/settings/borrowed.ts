import type { HubIntegration } from '../../operator/kinds';
import { integration } from '../../operator/kinds';
import type { CustomResource } from '../../operator/kinds/resource';
import { stateOf } from '../../operator/client/config-entities/states';
import type { Child } from '../../operator/sync/objects/child';
import { recordedId } from '../../operator/sync/objects/ownership';
import type { Configurable, SettingsEntries } from '../../operator/client/registries/settings';
import type {
  Borrower,
  BorrowedType,
  Lookup,
  SettingsKind,
  SettingsResource,
} from '../../operator/sync/registry/borrowed/borrowed-type';
import { ambiguousText, madeText, ownerAmong } from '../../operator/sync/registry/borrowed/declared';
import { devices } from '../../operator/sync/registry/borrowed/devices';
import { entities } from '../../operator/sync/registry/borrowed/entities';
import { entryOf } from '../diff/integration-change';
import type { StoredObjects } from '../diff/stored-objects';

const borrowedTypes: readonly BorrowedType[] = [devices, entities];

export const borrowedTypeOf = (kind: string): BorrowedType | undefined =>
  borrowedTypes.find(({ definition }) => definition.kind === kind);

/** The entity or device whose settings a resource describes. */
interface FoundEntry {
  readonly record: Configurable;
  readonly all: SettingsEntries<Configurable>;
  readonly lookup: Lookup;
  /** Another resource that already has the entry; undefined if there is none. */
  readonly owner?: Borrower;
}

/** Why no entry was found, as a sentence. `isFinal` is true if only a change of the resource can help. */
interface NotFound {
  readonly why: string;
  readonly isFinal: boolean;
}

/** The entry that the operator would find for a resource. @param others all resources of the same hub */
export async function findEntry(
  type: BorrowedType,
  resource: Borrower,
  others: readonly CustomResource[],
  stored: StoredObjects,
): Promise<FoundEntry | NotFound> {
  const all = await type.registryOf(stored.client).entries();
  const lookup = await lookupOf(type, resource, others, stored);
  const recorded = all.get(recordedId(type, resource) ?? '');
  const selected = recorded ? { found: [recorded] } : await type.select(resource, all.all, lookup);
  if ('missing' in selected)
    return { why: `There is no such ${type.type} yet: ${selected.missing}.`, isFinal: false };
  const [record, second] = selected.found;
  if (!record)
    return { why: `The hub has no ${type.type} that fits spec.select, or not yet.`, isFinal: false };
  if (second) return { why: ambiguousText(selected.found.map((each) => type.nameOf(each))), isFinal: true };
  const maker = makerOf(type, record, others);
  if (maker) return { why: madeText(type.nameOf(record), maker), isFinal: true };
  const owner = ownerOf(type, resource, others, record.id);
  return { record, all, lookup, ...(owner && { owner }) };
}

export async function lookupOf(
  { definition }: Pick<SettingsKind, 'definition'>,
  resource: SettingsResource,
  others: readonly CustomResource[],
  stored: StoredObjects,
): Promise<Lookup> {
  const entryIds = new Map<string, string>();
  for (const { kind, name } of definition.references(resource)) {
    const found = others.find((each) => each.kind === kind && each.metadata.name === name);
    if (kind !== integration.kind || !found) continue;
    const entry = await entryOf(found as unknown as HubIntegration, others, stored);
    if (entry) entryIds.set(name, entry.entry_id);
  }
  return {
    client: stored.client,
    configEntryOf: (name) => entryIds.get(name),
    hasState: async (entityId) => (await stateOf(stored.client.rest, entityId)) !== undefined,
    version: await stored.version(),
  };
}

/** The resource that makes the entry; undefined if there is none. */
function makerOf(
  type: BorrowedType,
  record: Configurable,
  others: readonly CustomResource[],
): Child | undefined {
  const made = type.madeBy?.(record);
  const all = others as readonly Child[];
  return (
    made &&
    all.find(
      (each) =>
        each.kind === made.definition.kind && recordedId(made, each) === made.id && made.isMaker(each),
    )
  );
}

/** Another resource that already has the entry; undefined if there is none. */
function ownerOf(
  type: BorrowedType,
  resource: Borrower,
  others: readonly CustomResource[],
  id: string,
): Borrower | undefined {
  const having = (others as readonly unknown[] as readonly Borrower[]).filter(
    (each) =>
      each.kind === resource.kind &&
      each.metadata.name !== resource.metadata.name &&
      recordedId(type, each) === id,
  );
  return ownerAmong(having, type, resource, id);
}
