import { domainOf } from '../../../client/connection/entity-id';
import type { ConfigEntry } from '../../../client/connection/flow-step';
import type { HubIntegrationSpec } from '../../../kinds/integration';
import { SUCCESS } from '../flow/run';

/**
 * The title by which an entry is recognized: `spec.title`, or the plain answer to `name`, which helpers use as their
 * title. Without the second rule, the first resource of a domain would take over a helper that a person made for
 * something else.
 */
export function desiredTitle({ title, steps = [], configuration }: HubIntegrationSpec): string | undefined {
  if (title !== undefined) return title;
  const names = [...steps.map(({ values }) => values), configuration].flatMap(
    (given) => given?.['name'] ?? [],
  );
  return names[0]?.value;
}

/** Whether the spec describes a device or an account, of which a domain may have several. */
export function isConfigured({ configuration = {}, steps = [] }: HubIntegrationSpec): boolean {
  return Object.keys(configuration).length > 0 || steps.length > 0;
}

/** The options that are chosen in menus. */
export function chosenOptions({ steps = [] }: HubIntegrationSpec): readonly string[] {
  return steps.flatMap(({ menuOption }) => menuOption ?? []);
}

/**
 * Helpers of several types, such as templates, share a domain: which type an entry has is seen from its entities, since
 * the option that was chosen for it is their domain. An entry without entities may be of any type.
 */
export function isOfChosenType(entityIds: readonly string[], options: readonly string[]): boolean {
  const domains = entityIds.map(domainOf);
  return domains.length === 0 || domains.some((domain) => options.includes(domain));
}

/** Entries of the domain that are no dismissed discovery. */
export function entriesOf(entries: Iterable<ConfigEntry>, domain: string): readonly ConfigEntry[] {
  return [...entries].filter((entry) => entry.domain === domain && entry.source !== 'ignore');
}

/** The ids of all entries of a domain, with dismissed discoveries. */
export function idsOfDomain(entries: Iterable<ConfigEntry>, domain: string): readonly string[] {
  return [...entries].filter((entry) => entry.domain === domain).map(({ entry_id: id }) => id);
}

/**
 * The entry to adopt before a flow runs (rules.md, "Integrations"): the one of that title; without a title, the single
 * entry of a domain that has no second one. Of several with one title, none: the choice would be ambiguous.
 *
 * @param present entries of the domain
 * @param isOnlyOne nothing tells the entry from another one of its domain
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
 * The entry that a flow has named by an end without an entry of its own: the one that it changed, or the only one of its
 * domain. One with another title than `spec.title` may be of another account.
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
  // A change to equal data is none for the hub.
  const isOfTitle = title === undefined || (hasChanged && present.every((each) => each.title === title));
  const namesAny = hasChanged || key === 'already_configured';
  const isOnlyOne = /^single_instance/.test(key) || (namesAny && isOfTitle);
  const [only, ...others] = ofFlow.length > 0 ? ofFlow : isOnlyOne ? present : [];
  return only && others.length === 0 && !isOwned(only.entry_id) ? only : undefined;
}
