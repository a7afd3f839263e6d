import { isObject } from '../base/is-object';

/**
 * Whether a stored value has all fields of a desired one. It may have more, such as defaults, except in a
 * selector, which server-side apply replaces as a whole. Lists must have equal length and order.
 */
export function hasFieldsOf(present: unknown, desired: unknown, isSelector = false): boolean {
  if (Array.isArray(desired)) {
    return (
      Array.isArray(present) &&
      present.length === desired.length &&
      desired.every((item, index) => hasFieldsOf(present[index], item, isSelector))
    );
  }
  if (!isObject(desired)) return present === desired;
  if (!isObject(present)) return false;
  const fields = Object.keys(desired).filter((field) => desired[field] !== undefined);
  return (
    (!isSelector || fields.length === Object.keys(present).length) &&
    fields.every((field) =>
      hasFieldsOf(present[field], desired[field], isSelector || /selector$/i.test(field)),
    )
  );
}
