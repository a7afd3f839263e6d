import { gunzipSync, gzipSync } from 'node:zlib';
import { isObject } from '../../../base/is-object';
import type { Files } from './config-files';

/**
 * Compresses the files of a configuration to one text, so that a record in one ConfigMap can hold the files
 * of several.
 */

/** Cache of compressed files: they do not change, and a record is written with each reconcile. */
const known = new WeakMap<Files, Buffer>();

export function packed(files: Files): Buffer {
  const present = known.get(files);
  if (present) return present;
  const made = gzipSync(JSON.stringify(files));
  known.set(files, made);
  return made;
}

/** Limit of the unpacked bytes, since a user may have changed the ConfigMap. */
const LARGEST = 16 * 1_024 * 1_024;

/** @throws RangeError, SyntaxError, TypeError or an error of zlib, if the content was changed */
export function unpacked(content: Buffer): Files {
  const files: unknown = JSON.parse(gunzipSync(content, { maxOutputLength: LARGEST }).toString());
  if (!isObject(files) || !Object.values(files).every((text) => typeof text === 'string'))
    throw new TypeError('the compressed text has no files');
  return files as Files;
}
