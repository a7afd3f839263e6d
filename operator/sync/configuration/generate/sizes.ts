import type { Files } from './config-files';
import { sizeOfNames } from './file-keys';
import { isInParts, LARGEST_PART, mainOf, partsOf } from './parts';
import { packed } from './packed-files';

/** Maximum number of files of a configuration. */
const MOST_FILES = 500;

/** Maximum number of bytes of a configuration. */
const LARGEST_TOTAL = 3 * 1_024 * 1_024;

/**
 * Maximum number of bytes in a ConfigMap. The API server accepts 1 MiB, of which the rest is for names,
 * annotations and generated entries.
 */
const LARGEST_OBJECT = 1_000 * 1_024;

/**
 * Bytes that the record needs for each section, each secret that a section uses, and each included folder.
 */
const NOTE = 200;

const bytesOf = (files: Files): number =>
  Object.values(files).reduce((sum, text) => sum + Buffer.byteLength(text), 0);

const ALL = 'spec.configuration, spec.files and spec.filesFrom';

/** @returns a sentence about too many or too large files, undefined when there are none */
export function problemOfFiles(files: Files): string | undefined {
  const count = Object.keys(files).length - 1;
  if (count > MOST_FILES)
    return `spec.files and spec.filesFrom have ${count} files, and a configuration has at most ${MOST_FILES}: join some, or name the keys that are needed in items.`;
  const total = bytesOf(files);
  if (total > LARGEST_TOTAL)
    return `${ALL} have ${total} bytes, and a configuration has at most ${LARGEST_TOTAL}: shorten them.`;
  return undefined;
}

/** Bytes for the marker and its key in one ConfigMap. */
const MARKER = 400;

/**
 * Reports whether the files, the marker and the record fit into one ConfigMap.
 *
 * @param files the files without the marker
 * @param notes number of entries in the record
 */
export const fitsInOne = (files: Files, notes: number): boolean =>
  sizeInOne(files, notes) + MARKER <= LARGEST_OBJECT;

const sizeInOne = (files: Files, notes: number): number =>
  bytesOf(files) + notes * NOTE + sizeOfNames(Object.keys(files));

/** @returns a sentence when the files or their record do not fit into a ConfigMap, undefined when they fit */
export function problemOfStored(
  files: Files,
  notes: number,
  fieldOf: (name: string) => string,
): string | undefined {
  const room = `and a ConfigMap has room for ${LARGEST_OBJECT}: shorten them`;
  if (!isInParts(files)) {
    const size = sizeInOne(files, notes);
    if (size <= LARGEST_OBJECT) return undefined;
    return `${ALL} have at least ${size} bytes together with what is noted of each section, ${room}.`;
  }
  const main = mainOf(files);
  const large = partsOf(files)
    .flatMap((part) => Object.keys(part))
    .find((name) => Buffer.byteLength(files[name]!) > LARGEST_PART);
  if (large !== undefined)
    return `${fieldOf(large)} has ${Buffer.byteLength(files[large]!)} bytes, and a file of a configuration that is too large for one ConfigMap has at most ${LARGEST_PART}: divide it.`;
  const names = sizeOfNames(Object.keys(files));
  const size = bytesOf(main) + packed(files).length + names + notes * NOTE;
  if (size <= LARGEST_OBJECT) return undefined;
  return `spec.configuration has ${bytesOf(main)} bytes with what is added to it, which are ${size} together with the other files in compressed form and what is noted of each section, ${room}.`;
}
