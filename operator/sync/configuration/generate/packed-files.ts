import { gunzipSync, gzipSync } from 'node:zlib';
import { isObject } from '../../../base/is-object';
import type { Files } from './config-files';

/** Files of a configuration as one compressed text, for a record in one ConfigMap of what several hold. */

/** Files do not change, and a record is written with each reconcile. */
const known = new WeakMap<Files, Buffer>();

export function packed(files: Files): Buffer {
  const present = known.get(files);
  if (present) return present;
  const made = gzipSync(JSON.stringify(files));
  known.set(files, made);
  return made;
}

/** Bytes that are unpacked at most: a person may have changed the ConfigMap. */
const LARGEST = 16 * 1_024 * 1_024;

/** @throws RangeError, SyntaxError, TypeError or an error of zlib, where it was changed */
export function unpacked(content: Buffer): Files {
  const files: unknown = JSON.parse(gunzipSync(content, { maxOutputLength: LARGEST }).toString());
  if (!isObject(files) || !Object.values(files).every((text) => typeof text === 'string'))
    throw new TypeError('the compressed text has no files');
  return files as Files;
}
