import { createHash } from 'node:crypto';
import { isObject } from '../../base/is-object';

/** Hash of a payload, as `sha256:<hex>`, independent of the order of its keys. */
export function payloadHash(payload: Readonly<Record<string, unknown>>): string {
  return `sha256:${createHash('sha256').update(canonical(payload)).digest('hex')}`;
}

/** JSON text of a value, independent of the order of its keys. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? 'null';
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(',')}}`;
}
