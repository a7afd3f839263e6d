import { isObject } from '../../../base/is-object';
import type { EntityPayload } from '../../../client/connection/config-entity';
import { LARGEST_DATA } from './assignment';

/** What a delivered definition replaced. */
export interface Former {
  /** Null: the hub had nothing with its id. */
  readonly definition: EntityPayload | null;
  /** `status.appliedHash` of the resource at that time, or empty: with another one, the hub has used a newer definition since. */
  readonly accepted: string;
}

/**
 * Key of a ConfigMap with what its new definitions replaced. The pod does not mount it: an operator that ends before the hub has loaded
 * a new definition leaves it to the next one.
 */
export const FORMER_FILE = 'former.json';

/** Key of a ConfigMap with the keys of its new definitions that no status records yet, by the uids of their resources. Not mounted either. */
export const CLAIM_FILE = 'claims.json';

type Entries<T> = readonly (readonly [key: string, value: T])[];

/**
 * The text of former definitions or of claims; undefined: there are none. Those that the API server would not take beside the other data
 * are left out: of these only the process that made them knows.
 *
 * @param size bytes of the other data of the ConfigMap
 */
export function formerText(entries: Entries<Former | string>, size: number): string | undefined {
  let room = LARGEST_DATA - size;
  const kept = entries.filter((each) => {
    room -= Buffer.byteLength(JSON.stringify(each));
    return room >= 0;
  });
  return kept.length === 0 ? undefined : JSON.stringify(Object.fromEntries(kept));
}

/** The former definitions in a text. One that someone has broken has none. */
export const readFormerText = (text?: string): ReadonlyMap<string, Former> => readText(text, isFormer);

/** The claims in a text. */
export const readClaimText = (text?: string): ReadonlyMap<string, string> =>
  readText(text, (value) => typeof value === 'string');

function readText<T>(text = '{}', isValid: (value: unknown) => value is T): ReadonlyMap<string, T> {
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  return new Map(
    Object.entries(isObject(content) ? content : {}).filter((entry): entry is [string, T] =>
      isValid(entry[1]),
    ),
  );
}

const isFormer = (value: unknown): value is Former =>
  isObject(value) &&
  (value['definition'] === null || isObject(value['definition'])) &&
  typeof value['accepted'] === 'string';
