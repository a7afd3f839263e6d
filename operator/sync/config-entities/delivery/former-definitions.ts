import { isObject } from '../../../base/is-object';
import type { EntityPayload } from '../../../client/connection/config-entity';
import { LARGEST_DATA } from './assignment';

/** The definition that a delivered one replaced. */
export interface Former {
  /** Null if the hub had no definition with this id. */
  readonly definition: EntityPayload | null;
  /**
   * Value of `status.appliedHash` of the resource at that time, or empty. If the present value differs, the
   * hub has used a newer definition since.
   */
  readonly accepted: string;
}

/**
 * Key of a ConfigMap with the definitions that its new definitions replaced. The pod does not mount this key.
 * If the operator ends before the hub has loaded a new definition, the next process can restore the replaced
 * one.
 */
export const FORMER_FILE = 'former.json';

/**
 * Key of a ConfigMap with the claims for its new definitions that no status records yet, by the uids of their
 * resources. The pod does not mount this key.
 */
export const CLAIM_FILE = 'claims.json';

type Entries<T> = readonly (readonly [key: string, value: T])[];

/**
 * The text of former definitions or of claims. Entries for which the ConfigMap has no room are left out, and
 * are then only known to this process.
 *
 * @param size bytes of the other data of the ConfigMap
 * @returns undefined when there are no entries
 */
export function formerText(entries: Entries<Former | string>, size: number): string | undefined {
  let room = LARGEST_DATA - size;
  const kept = entries.filter((each) => {
    room -= Buffer.byteLength(JSON.stringify(each));
    return room >= 0;
  });
  return kept.length === 0 ? undefined : JSON.stringify(Object.fromEntries(kept));
}

/** The former definitions in a text. Empty if a user has broken the text. */
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
