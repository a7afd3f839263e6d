import type { ConfigEntry } from '../../../client/flow-step';
import type { HubIntegrationSpec } from '../../../kinds/integration';

/** The entry that a resource desires, as far as its spec describes it. */
export interface DesiredIntegration {
  readonly domain: string;
  /** Undefined: an entry with any title. */
  readonly title?: string | undefined;
}

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

/** The options that are chosen in menus. */
export function chosenOptions({ steps = [] }: HubIntegrationSpec): readonly string[] {
  return steps.flatMap(({ menuOption }) => menuOption ?? []);
}

/**
 * Helpers of several types, such as templates, share a domain: which type an entry has is seen from its entities, since
 * the option that was chosen for it is their domain. An entry without entities may be of any type.
 */
export function isOfChosenType(entityIds: readonly string[], options: readonly string[]): boolean {
  const domains = entityIds.map((id) => id.slice(0, id.indexOf('.')));
  return domains.length === 0 || domains.some((domain) => options.includes(domain));
}

/**
 * Entries that may be adopted or found again: of the domain, no dismissed discovery, and owned by no other resource.
 */
export function freeEntries(
  entries: Iterable<ConfigEntry>,
  domain: string,
  isOwned: (entryId: string) => boolean,
): readonly ConfigEntry[] {
  return [...entries].filter(
    (entry) => entry.domain === domain && entry.source !== 'ignore' && !isOwned(entry.entry_id),
  );
}

/**
 * The entry to adopt (rules.md, "Integrations"): the one of that title; without a title, the single entry of the
 * domain. Of several with one title, none: the choice would be ambiguous.
 *
 * @param count entries of the domain, owned ones included
 */
export function entryToAdopt(
  free: readonly ConfigEntry[],
  { title }: DesiredIntegration,
  count: number,
): ConfigEntry | undefined {
  const matching =
    title === undefined ? (count === 1 ? free : []) : free.filter((entry) => entry.title === title);
  return matching.length === 1 ? matching[0] : undefined;
}

/**
 * The entry of a flow whose end was not observed: one of a user's flow, which the domain did not have before; the one with
 * the title, if there is one. Several: any of them may be a person's.
 *
 * @param wasOpen the flow was still open, so it can only be about to set up the entry
 */
export function entriesMadeSince(
  free: readonly ConfigEntry[],
  { title }: DesiredIntegration,
  entriesBefore: readonly string[],
  wasOpen: boolean,
): readonly ConfigEntry[] {
  const made = free.filter(
    (entry) =>
      entry.source === 'user' &&
      !entriesBefore.includes(entry.entry_id) &&
      (!wasOpen || entry.state === 'setup_in_progress'),
  );
  const titled = made.filter((entry) => entry.title === title);
  return titled.length > 0 ? titled : made;
}
