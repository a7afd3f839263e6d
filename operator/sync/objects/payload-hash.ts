import { createHash } from 'node:crypto';
import { isObject } from '../../base/is-object';

/** `sha256:<hex>` of a payload, regardless of the order of its keys. */
export function payloadHash(payload: Readonly<Record<string, unknown>>): string {
  return `sha256:${createHash('sha256').update(canonical(payload)).digest('hex')}`;
}

/** JSON text of a value, regardless of the order of keys. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? 'null';
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(',')}}`;
}
