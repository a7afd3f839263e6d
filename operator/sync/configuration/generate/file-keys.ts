import type { Files } from './config-files';
import { digestsOfParts, isInParts, mainOf } from './parts';

/**
 * The files of a configuration as entries of a ConfigMap, whose keys have no folders and no blanks. Files without them have their
 * names as keys, which is the form of every earlier version. Where one has them, all keys are escaped, also that of
 * `configuration.yaml`: a program that knows the earlier form alone finds no configuration and leaves the hub as it is.
 */

/** A name that is a key as it is. */
const PLAIN = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/;

const ESCAPES: Readonly<Record<string, string>> = { '-': '--', '/': '-s', ' ': '-b' };
const ESCAPED = new Map(Object.entries(ESCAPES).map(([character, escape]) => [escape, character]));

/** Whether all names are keys as they are. */
export const arePlain = (names: readonly string[]): boolean => names.every((name) => PLAIN.test(name));

/** Key of the names of the files, as JSON, in the escaped form. A name that begins with a dot is no file of the hub. */
const NAMES_KEY = '.files';

/**
 * Key of `configuration.yaml` beside parts; no name is escaped to it. A pod that was started without parts, or with them, has
 * links of that form alone: to a hub that restarts in it, the content of the other form is not there, and that beneath it is.
 */
const MAIN_OF_PARTS = '-configuration.yaml-p';

/** @param hash of the content, by which a mount of two ConfigMaps tells whose names these are */
export function entriesFor(files: Files, hash: string): Readonly<Record<string, string>> {
  const names = Object.keys(files);
  if (arePlain(names)) return files;
  if (!isInParts(files))
    return { ...entriesOfPart(files), [NAMES_KEY]: JSON.stringify({ content: hash, names }) };
  // The start of a pod waits until it has all parts of these digests.
  const index = { content: hash, names, parts: digestsOfParts(files) };
  return { [MAIN_OF_PARTS]: mainOf(files)['configuration.yaml']!, [NAMES_KEY]: JSON.stringify(index) };
}

/** Whether the entries are those of a configuration in parts, of which other ConfigMaps have the most files. */
export const areInParts = (data: Readonly<Record<string, string>>): boolean =>
  /"parts":\[/.test(data[NAMES_KEY] ?? '');

/** Files in the escaped form: the entries of a part of a configuration. */
export const entriesOfPart = (files: Files): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(files).map(([name, text]) => [escapedKey(name), text]));

/** The files among the entries of a ConfigMap, in either form. */
export const filesOf = (data: Readonly<Record<string, string>>): Files =>
  Object.fromEntries(
    Object.entries(data)
      .filter(([key]) => !key.startsWith('.'))
      .map(([key, text]) => [nameOf(key), text]),
  );

const escapedKey = (name: string): string => `-${name.replace(/[-/ ]/g, (character) => ESCAPES[character]!)}`;

const nameOf = (key: string): string =>
  key.startsWith('-') ? key.slice(1).replace(/-./g, (escape) => ESCAPED.get(escape) ?? escape) : key;

/** The bytes that escaped keys and the list of names take. */
export function sizeOfNames(names: readonly string[]): number {
  if (arePlain(names)) return 0;
  return names.reduce((sum, name) => sum + escapedKey(name).length + name.length + 4, 0);
}
