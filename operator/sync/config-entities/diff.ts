import type { EntityBody } from '../../client/config-entities';

/** A top-level key in which what the hub has is not what is wanted; undefined: the key is not there. */
export interface Difference {
  readonly field: string;
  readonly present: unknown;
  readonly wanted: unknown;
}

/**
 * Where a definition out of the hub differs from one that was or would be sent. What the hub makes of a definition by
 * itself is no difference: it adds the `id`, orders keys anew, and writes the old key `service` of an action as
 * `action`, at every depth. All else comes back as it was sent.
 */
export function differences(present: EntityBody, wanted: EntityBody): Difference[] {
  const fields = new Set([...Object.keys(present), ...Object.keys(wanted)]);
  fields.delete('id');
  return [...fields]
    .filter((field) => !isSame(present[field], wanted[field]))
    .sort()
    .map((field) => ({ field, present: present[field], wanted: wanted[field] }));
}

/** In a line: `alias: "Dim" → "Dim the light", mode: absent → "single"`. */
export function describe(found: readonly Difference[]): string {
  return found
    .map(({ field, present, wanted }) => `${field}: ${short(present)} → ${short(wanted)}`)
    .join(', ');
}

function isSame(present: unknown, wanted: unknown): boolean {
  if (Array.isArray(present) && Array.isArray(wanted)) {
    return present.length === wanted.length && present.every((item, index) => isSame(item, wanted[index]));
  }
  if (!isObject(present) || !isObject(wanted)) return Object.is(present, wanted) || present === wanted;
  const renamed =
    has(present, 'action') && !has(present, 'service') && has(wanted, 'service') && !has(wanted, 'action');
  const keys = Object.keys(wanted);
  return (
    keys.length === Object.keys(present).length &&
    keys.every((key) => {
      const there = renamed && key === 'service' ? 'action' : key;
      return has(present, there) && isSame(present[there], wanted[key]);
    })
  );
}

/** Own keys only: a definition may well have a key `constructor`. */
const has = (object: object, key: string): boolean => Object.hasOwn(object, key);

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const LONGEST_VALUE = 60;

function short(value: unknown): string {
  if (value === undefined) return 'absent';
  const text = JSON.stringify(value);
  return text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE)}…` : text;
}
