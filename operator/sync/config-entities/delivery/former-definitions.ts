import { isObject } from '../../../base/is-object';
import type { EntityPayload } from '../../../client/connection/config-entity';
import { LARGEST_DATA } from './assignment';

/** What a delivered definition replaced. */
export interface Former {
  /** Null: the hub had nothing with its id. */
  readonly definition: EntityPayload | null;
  /** `status.appliedHash` of the resource at that time, or empty: with another one, the hub has used a newer definition since. */
  readonly accepted: string;
  /** Uid of the resource of a new definition whose status does not record it yet. */
  readonly claimedBy?: string;
}

/**
 * Key of a ConfigMap with what its new definitions replaced. The pod does not mount it: an operator that ends before the hub has loaded
 * a new definition leaves it to the next one.
 */
export const FORMER_FILE = 'former.json';

/**
 * The text of the former definitions; undefined: there are none. Those that the API server would not take beside the definitions are
 * left out, the claims last: of these only the process that replaced them knows.
 *
 * @param size bytes of the definitions in the ConfigMap
 */
export function formerText(
  formers: readonly (readonly [key: string, former: Former])[],
  size: number,
): string | undefined {
  let room = LARGEST_DATA - size;
  const isReplaced = ([, { definition }]: (typeof formers)[number]) => Number(definition !== null);
  const claimsFirst = [...formers].sort((a, b) => isReplaced(a) - isReplaced(b));
  const kept = claimsFirst.filter((each) => {
    room -= Buffer.byteLength(JSON.stringify(each));
    return room >= 0;
  });
  return kept.length === 0 ? undefined : JSON.stringify(Object.fromEntries(kept));
}

/** The former definitions in a text. One that someone has broken has none. */
export function readFormerText(text = '{}'): ReadonlyMap<string, Former> {
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  return new Map(
    Object.entries(isObject(content) ? content : {}).filter((entry): entry is [string, Former] =>
      isFormer(entry[1]),
    ),
  );
}

const isFormer = (value: unknown): value is Former =>
  isObject(value) &&
  (value['definition'] === null || isObject(value['definition'])) &&
  typeof value['accepted'] === 'string' &&
  ['undefined', 'string'].includes(typeof value['claimedBy']);
