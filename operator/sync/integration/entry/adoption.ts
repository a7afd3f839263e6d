import { domainOf } from '../../../client/connection/entity-id';
import type { ConfigEntry } from '../../../client/connection/flow-step';
import type { HubIntegrationSpec } from '../../../kinds/integration';
import { SUCCESS } from '../flow/run';

/**
 * The title by which an entry is recognized: `spec.title`, or else the answer to `name`, which helpers use as
 * their title. Without the answer to `name`, the first resource of a domain would adopt a helper that a user
 * created for another purpose.
 */
export function desiredTitle({ title, steps = [], configuration }: HubIntegrationSpec): string | undefined {
  if (title !== undefined) return title;
  const names = [...steps.map(({ values }) => values), configuration].flatMap(
    (given) => given?.['name'] ?? [],
  );
  return names[0]?.value;
}

/** Reports whether the spec describes a device or an account, of which a domain may have several. */
export function isConfigured({ configuration = {}, steps = [] }: HubIntegrationSpec): boolean {
  return Object.keys(configuration).length > 0 || steps.length > 0;
}

/** The options that are chosen in menus. */
export function chosenOptions({ steps = [] }: HubIntegrationSpec): readonly string[] {
  return steps.flatMap(({ menuOption }) => menuOption ?? []);
}

/**
 * Reports whether an entry has the type that the spec chooses. Helpers of several types, such as templates,
 * share a domain. The type of an entry is known from its entities, since the chosen menu option is also their
 * domain. An entry without entities may have any type.
 */
export function isOfChosenType(entityIds: readonly string[], options: readonly string[]): boolean {
  const domains = entityIds.map(domainOf);
  return domains.length === 0 || domains.some((domain) => options.includes(domain));
}

/** Entries of the domain, without ignored discoveries. */
export function entriesOf(entries: Iterable<ConfigEntry>, domain: string): readonly ConfigEntry[] {
  return [...entries].filter((entry) => entry.domain === domain && entry.source !== 'ignore');
}

/** The ids of all entries of a domain, including ignored discoveries. */
export function idsOfDomain(entries: Iterable<ConfigEntry>, domain: string): readonly string[] {
  return [...entries].filter((entry) => entry.domain === domain).map(({ entry_id: id }) => id);
}

/**
 * The entry to adopt before a flow runs (rules.md, "Integrations"): the entry with that title, or without a
 * title the only entry of a domain that cannot have a second one. If several have the title, none is adopted,
 * since the choice would be ambiguous.
 *
 * @param present entries of the domain
 * @param isOnlyOne nothing distinguishes the entry from others of its domain
 */
export function entryToAdopt(
  present: readonly ConfigEntry[],
  title: string | undefined,
  isOnlyOne: boolean,
  isOwned: (entryId: string) => boolean,
): ConfigEntry | undefined {
  const untitled = isOnlyOne ? present : [];
  const matching =
    title === undefined
      ? untitled
      : present.filter((each) => each.title === title && !isOwned(each.entry_id));
  const [found, ...others] = matching;
  return found && others.length === 0 && !isOwned(found.entry_id) ? found : undefined;
}

/**
 * The entry that a flow's abort refers to: the entry that the flow changed, or the only entry of its domain.
 * An entry whose title differs from `spec.title` may be of another account.
 *
 * @param changed ids of the entries that were changed while the flow ran
 */
export function entryNamedBy(
  key: string,
  present: readonly ConfigEntry[],
  { title }: Pick<HubIntegrationSpec, 'title'>,
  isOwned: (entryId: string) => boolean,
  changed: readonly string[],
): ConfigEntry | undefined {
  const hasChanged = SUCCESS.test(key);
  const ofFlow = hasChanged ? present.filter((each) => changed.includes(each.entry_id)) : [];
  // The hub reports no change if the new data are equal.
  const isOfTitle = title === undefined || (hasChanged && present.every((each) => each.title === title));
  const namesAny = hasChanged || key === 'already_configured';
  const isOnlyOne = /^single_instance/.test(key) || (namesAny && isOfTitle);
  const [only, ...others] = ofFlow.length > 0 ? ofFlow : isOnlyOne ? present : [];
  return only && others.length === 0 && !isOwned(only.entry_id) ? only : undefined;
}
