/**
 * Rules for the paths of configuration files, relative to the hub's configuration directory. The schema and
 * the operator apply the same rules.
 */

/** Files that the hub or the operator itself writes. */
const RESERVED_FILES = [
  'configuration.yaml',
  'secrets.yaml',
  'automations.yaml',
  'scenes.yaml',
  'scripts.yaml',
  'known_devices.yaml',
  'ip_bans.yaml',
];

const NAME = '[A-Za-z0-9_][A-Za-z0-9_. -]*';
// Names of the hub's own files, such as its database, contain a dot. A first folder with a dot could take the
// place of one of them.
const FIRST_FOLDER = '[A-Za-z0-9_][A-Za-z0-9_ -]*';
const WRITTEN = `^(${FIRST_FOLDER}/(${NAME}/){0,2})?${NAME}[.](yaml|yml|jinja|txt|json)$`;
const ELSEWHERE = '(/secrets[.]yaml$)|^(custom_components|www)/';
const OF_OPERATOR = '^hub[-_]operator';
const LONGEST = 120;

/** The rule in words, for a message that begins with the field. */
export const PATH_RULE =
  'a path has up to three folders, at most 120 characters and the ending .yaml, .yml, .jinja, .txt or .json; each name in it is made of ' +
  'letters, digits, blanks and _.-, and begins with a letter, a digit or _; the first folder has no dot, no folder has a secrets.yaml, and custom_components and www are not for files';
export const RESERVED_RULE =
  'this name belongs to the hub or to the operator (configuration.yaml, automations.yaml, …): choose another';

/** Pattern of a `folder` in `filesFrom`: up to three names. */
export const FOLDER_PATTERN = `^(${FIRST_FOLDER}(/${NAME}){0,2})?$`;

/** CEL expression: whether a text is a valid path of a file. */
export const celIsPath = (text: string): string =>
  `${text}.size() <= ${LONGEST} && ${text}.matches('${WRITTEN}') && !${text}.matches('${ELSEWHERE}')`;

/** CEL expression: whether a path is not reserved for files of the hub or of the operator. */
export const celIsFree = (text: string): string =>
  `!(${text} in ${JSON.stringify(RESERVED_FILES)}) && !${text}.matches('${OF_OPERATOR}')`;

const ofOperator = new RegExp(OF_OPERATOR);
const written = new RegExp(WRITTEN);
const elsewhere = new RegExp(ELSEWHERE);

/** The rule that a path violates, in words. @returns undefined for a valid path */
export function pathProblem(path: string): string | undefined {
  if (RESERVED_FILES.includes(path) || ofOperator.test(path)) return RESERVED_RULE;
  const isPath = path.length <= LONGEST && written.test(path) && !elsewhere.test(path);
  return isPath ? undefined : PATH_RULE;
}
