import type { ConfigEntry } from '../../client/flow-step';
import type { Answers } from './answers';

/** Which entry a resource wants, as far as its spec tells. */
export interface Wanted {
  readonly domain: string;
  /** Absent: any. */
  readonly title?: string | undefined;
}

/**
 * The title by which an entry is recognized: `spec.title`, or the plain answer to `name`, which helpers use as their
 * title. Without the second rule, the first resource of a domain would take over a helper that a person made for
 * something else.
 */
export function wantedTitle(title: string | undefined, answers: Answers): string | undefined {
  if (title !== undefined) return title;
  const all = [...answers.steps.flatMap((step) => step.answers), ...answers.configuration];
  const value = all.find(({ field }) => field === 'name')?.value;
  return value?.type === 'text' ? value.text : undefined;
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
  { title }: Wanted,
  count: number,
): ConfigEntry | undefined {
  const matching =
    title === undefined ? (count === 1 ? free : []) : free.filter((entry) => entry.title === title);
  return matching.length === 1 ? matching[0] : undefined;
}

/** The entry of a flow whose end was not observed: the one that the domain did not have before. */
export function entryMadeSince(
  free: readonly ConfigEntry[],
  { title }: Wanted,
  entriesBefore: readonly string[],
): ConfigEntry | undefined {
  const made = free.filter((entry) => !entriesBefore.includes(entry.entry_id));
  return made.find((entry) => entry.title === title) ?? made[0];
}
