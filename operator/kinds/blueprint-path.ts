/**
 * Paths of blueprints, relative to the folder of their domain. The rules are necessary because the hub itself
 * would write and delete outside of that folder.
 */

// The hub refuses `~` and `..`. A name may begin with a dot.
const CHARACTER = '[^\\x00-\\x1f\\x7f-\\x9f./\\\\~]';
const NAME = `[.]?${CHARACTER}+([.]${CHARACTER}+)*`;

/** Pattern of the path of a blueprint. */
export const BLUEPRINT_PATH = `^(${NAME}/)*${NAME}[.]yaml$`;

/** The rule in words, for a message that begins with the field. */
export const BLUEPRINT_PATH_RULE =
  'path: a path below the blueprint folder of the domain that ends in .yaml, such as homeassistant/motion_light.yaml: it does not begin with /, and has ' +
  'no empty name, no \\, no ~ and no ..';

/** CEL expression: whether a text is a valid path of a blueprint. */
export const celIsBlueprintPath = (text: string): string =>
  `${text}.matches('${BLUEPRINT_PATH.replaceAll('\\', '\\\\')}')`;

/** Folder for the copies with which the operator compares and tests blueprints in the hub. */
export const CHECK_FOLDER = 'hub-operator-check';
