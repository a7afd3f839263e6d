import type { Files } from './config-files';
import { digestsOfParts, isInParts, mainOf } from './parts';

/**
 * The files of a configuration as entries of a ConfigMap, whose keys cannot contain slashes or blanks. If no
 * name has any, the names are used as keys, as in every earlier version. If one has, all keys are escaped,
 * including `configuration.yaml`: a program that knows only the earlier form then finds no configuration and
 * does not change the hub.
 */

/** A name that can be used as a key unchanged. */
const PLAIN = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/;

const ESCAPES: Readonly<Record<string, string>> = { '-': '--', '/': '-s', ' ': '-b' };
const ESCAPED = new Map(Object.entries(ESCAPES).map(([character, escape]) => [escape, character]));

/** Reports whether all names can be used as keys unchanged. */
export const arePlain = (names: readonly string[]): boolean => names.every((name) => PLAIN.test(name));

/**
 * Key with the names of the files as JSON, in the escaped form. Since the key begins with a dot, it is not a
 * file of the hub.
 */
const NAMES_KEY = '.files';

/**
 * Key of `configuration.yaml` when the configuration is split into parts. No escaped name equals it. A pod
 * has links for the form that it was started with: if its hub restarts after the form has changed, it does
 * not find the new content and loads the accepted content mounted beneath.
 */
const MAIN_OF_PARTS = '-configuration.yaml-p';

/**
 * @param hash hash of the content; if two ConfigMaps are mounted over each other, it tells which content the
 * names belong to
 */
export function entriesFor(files: Files, hash: string): Readonly<Record<string, string>> {
  const names = Object.keys(files);
  if (arePlain(names)) return files;
  if (!isInParts(files))
    return { ...entriesOfPart(files), [NAMES_KEY]: JSON.stringify({ content: hash, names }) };
  // The start of a pod waits until all parts with these digests are mounted.
  const index = { content: hash, names, parts: digestsOfParts(files) };
  return { [MAIN_OF_PARTS]: mainOf(files)['configuration.yaml']!, [NAMES_KEY]: JSON.stringify(index) };
}

/**
 * Reports whether the entries are those of a configuration that is split into parts: most of its files are in
 * other ConfigMaps.
 */
export const areInParts = (data: Readonly<Record<string, string>>): boolean =>
  /"parts":\[/.test(data[NAMES_KEY] ?? '');

/** Files as entries with escaped keys, for one part of a configuration. */
export const entriesOfPart = (files: Files): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(files).map(([name, text]) => [escapedKey(name), text]));

/** The files in the entries of a ConfigMap, in either form. */
export const filesOf = (data: Readonly<Record<string, string>>): Files =>
  Object.fromEntries(
    Object.entries(data)
      .filter(([key]) => !key.startsWith('.'))
      .map(([key, text]) => [nameOf(key), text]),
  );

const escapedKey = (name: string): string => `-${name.replace(/[-/ ]/g, (character) => ESCAPES[character]!)}`;

const nameOf = (key: string): string =>
  key.startsWith('-') ? key.slice(1).replace(/-./g, (escape) => ESCAPED.get(escape) ?? escape) : key;

/** Bytes for escaped keys and the list of names. */
export function sizeOfNames(names: readonly string[]): number {
  if (arePlain(names)) return 0;
  return names.reduce((sum, name) => sum + escapedKey(name).length + name.length + 4, 0);
}
