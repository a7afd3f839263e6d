import { load, YAMLException } from 'js-yaml';
import type { BoundedTask } from '../../base/bounded-task';
import { isObject } from '../../base/is-object';

/** Maximum number of characters in the name of a theme, since the names are in the status. */
const LONGEST_THEME_NAME = 200;

type ThemeNames =
  | { readonly names: readonly string[] }
  /** The rest of a sentence that begins with `The file x`. */
  | { readonly problem: string };

/** The names of the themes in a file. */
function themeNames(text: string): ThemeNames {
  let themes: unknown;
  try {
    themes = load(text);
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    return { problem: `is not valid YAML: ${error.message.split('\n')[0]}.` };
  }
  if (!isObject(themes) || Object.keys(themes).length === 0 || !Object.values(themes).every(isObject))
    return { problem: 'is not a map of themes by their names.' };
  const names = Object.keys(themes);
  const long = names.find(({ length }) => length > LONGEST_THEME_NAME);
  return long === undefined
    ? { names }
    : {
        problem: `has a theme whose name has ${long.length} characters, and at most ${LONGEST_THEME_NAME} are accepted.`,
      };
}

/** Reads a file. The caller limits its length. */
export const themeTask: BoundedTask<string, ThemeNames> = { name: 'themeNames', run: themeNames };
