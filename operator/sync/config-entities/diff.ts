import { isObject } from '../../base/is-object';
import type { EntityPayload } from '../../client/connection/config-entity';
import type { FieldDiff } from '../objects/field-diff';

/**
 * Where a definition from the hub differs from the desired payload. Changes that the hub makes by itself do not count:
 * it adds `id`, reorders keys, and renames the old key `service` of an action to `action`, at every depth. Everything
 * else comes back as it was sent.
 */
export function diff(actual: EntityPayload, desired: EntityPayload): FieldDiff[] {
  const fields = new Set([...Object.keys(actual), ...Object.keys(desired)]);
  fields.delete('id');
  return [...fields]
    .filter((field) => !isSame(actual[field], desired[field]))
    .sort()
    .map((field) => ({ field, actual: actual[field], desired: desired[field] }));
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
