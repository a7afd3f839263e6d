import { truncate } from '../../truncate';
import type { EntityPayload } from '../../client/config-entity';

/** A top-level key in which what the hub has is not what is desired; undefined: the key is not there. */
export interface Difference {
  readonly field: string;
  readonly actual: unknown;
  readonly desired: unknown;
}

/**
 * Where a definition from the hub differs from the desired payload. Changes that the hub makes by itself do not count:
 * it adds `id`, reorders keys, and renames the old key `service` of an action to `action`, at every depth. Everything
 * else comes back as it was sent.
 */
export function diff(actual: EntityPayload, desired: EntityPayload): Difference[] {
  const fields = new Set([...Object.keys(actual), ...Object.keys(desired)]);
  fields.delete('id');
  return [...fields]
    .filter((field) => !isSame(actual[field], desired[field]))
    .sort()
    .map((field) => ({ field, actual: actual[field], desired: desired[field] }));
}

/**
 * In a line: `alias: hub has "Dim", resource says "Dim the light"`. Differences without a meaning, such as a default that
 * the hub leaves out, are named only if there are no others.
 *
 * @param redact applied before a value is cut: the head of a secret is a part of it, too
 */
export function formatDiff(found: readonly Difference[], redact: (text: string) => string): string {
  const meaningful = found.filter((difference) => !isDefaultOnly(difference));
  return (meaningful.length > 0 ? meaningful : found)
    .map(
      ({ field, actual, desired }) =>
        `${field}: hub has ${short(actual, redact)}, resource says ${short(desired, redact)}`,
    )
    .join('; ');
}

/** What the hub uses where a definition lacks the field. */
const DEFAULTS: Readonly<Record<string, unknown>> = { mode: 'single', max: 10, max_exceeded: 'warning' };

function isDefaultOnly({ field, actual, desired }: Difference): boolean {
  if (actual !== undefined && desired !== undefined) return false;
  const value = actual ?? desired;
  const isEmpty = typeof value === 'object' && value !== null && Object.keys(value).length === 0;
  return isEmpty || value === '' || (field in DEFAULTS && value === DEFAULTS[field]);
}

function isSame(actual: unknown, desired: unknown): boolean {
  if (Array.isArray(actual) && Array.isArray(desired)) {
    return actual.length === desired.length && actual.every((item, index) => isSame(item, desired[index]));
  }
  if (!isObject(actual) || !isObject(desired)) return Object.is(actual, desired) || actual === desired;
  const renamed =
    has(actual, 'action') && !has(actual, 'service') && has(desired, 'service') && !has(desired, 'action');
  const keys = Object.keys(desired);
  return (
    keys.length === Object.keys(actual).length &&
    keys.every((key) => {
      const actualKey = renamed && key === 'service' ? 'action' : key;
      return has(actual, actualKey) && isSame(actual[actualKey], desired[key]);
    })
  );
}

/** Own keys only: a definition may have a key `constructor`. */
const has = (object: object, key: string): boolean => Object.hasOwn(object, key);

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const LONGEST_VALUE = 60;

function short(value: unknown, redact: (text: string) => string): string {
  return value === undefined ? 'nothing' : truncate(redact(JSON.stringify(value)), LONGEST_VALUE);
}
