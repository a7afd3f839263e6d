import { isMap, isScalar } from 'yaml';
import type { Files } from '../../operator/sync/configuration/generate/config-files';
import { parseHubYaml } from '../../operator/sync/configuration/generate/hub-yaml';

/**
 * The secrets in a copy of a hub's folder. Their values are searched for in other files, and never become
 * part of a result.
 */
export interface GivenSecrets {
  /** Values by key. A key may also be in the secrets file of a subfolder, with another value. */
  readonly values: ReadonlyMap<string, ReadonlySet<string>>;
  /** Sentences why files of secrets cannot be read. */
  readonly unread: readonly string[];
}

/** Whether a file contains secrets. The hub uses the one that is nearest to the file with `!secret`. */
export const isOfSecrets = (path: string): boolean => /(^|\/)secrets\.yaml$/.test(path);

/** Reads all files of secrets. @returns undefined if there is none */
export function givenSecrets(files: Files): GivenSecrets | undefined {
  const paths = Object.keys(files).filter(isOfSecrets).sort();
  if (paths.length === 0) return undefined;
  const values = new Map<string, Set<string>>();
  const unread: string[] = [];
  for (const path of paths) {
    const file = parseHubYaml(files[path]!);
    if (!('document' in file))
      unread.push(`${path}, line ${file.position.line}, cannot be read: ${file.problem}.`);
    else if (isMap(file.root))
      for (const { key, value } of file.root.items) {
        const name = isScalar(key) ? String(key.value) : '';
        values.set(name, (values.get(name) ?? new Set()).add(isScalar(value) ? String(value.value) : ''));
      }
  }
  return { values, unread };
}

/**
 * Whether a value is long enough, and not a plain word, so that finding it elsewhere is not a coincidence.
 */
const isTelling = (value: string): boolean =>
  (value.length >= 8 || (value.length >= 6 && /\d/.test(value) && /[a-z]/i.test(value))) &&
  !value.includes('\n') &&
  !/^[a-z_]+(\.[a-z0-9_]+)?$/.test(value);

/** The secrets whose values a text contains: each key once, with its first line. */
export function secretsIn(
  text: string,
  { values }: GivenSecrets,
): readonly { readonly key: string; readonly line: number }[] {
  return [...values].flatMap(([key, ofKey]) => {
    const [index] = [...ofKey].filter(isTelling).flatMap((value) => placesOf(value, text));
    return index === undefined ? [] : [{ key, line: text.slice(0, index).split('\n').length }];
  });
}

/**
 * The first place of a value that is not part of a longer word. @returns a list with that place, or an empty
 * one
 */
function placesOf(value: string, text: string): readonly number[] {
  const isWord = (character = '') => /[A-Za-z0-9]/.test(character);
  for (let at = text.indexOf(value); at >= 0; at = text.indexOf(value, at + 1)) {
    const end = at + value.length;
    const isPart = (isWord(value[0]) && isWord(text[at - 1])) || (isWord(value.at(-1)) && isWord(text[end]));
    if (!isPart) return [at];
  }
  return [];
}
