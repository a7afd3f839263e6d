import { posix } from 'node:path';
import { isScalar, visit } from 'yaml';
import {
  fieldOfFile,
  type Files,
  includedFiles,
  isIncludeOfFolder,
  isYaml,
  nameInConfig,
  type Origins,
} from './config-files';
import type { parseHubYaml } from './hub-yaml';

/** An included file or folder that the configuration does not provide: only the hub's volume may have it. */
export interface ForeignTarget {
  readonly type: 'file' | 'folder';
  /** Path in the hub's directory: `packages`, `lights/hall.yaml`. */
  readonly path: string;
  /** The place of its first include, in words: `spec.configuration, line 3, column 13`. */
  readonly place: string;
}

/** The included files and folders of a configuration that only the volume may have. */
interface ForeignTargets {
  readonly targets: readonly ForeignTarget[];
  /** Sentences about those included files and folders that the start of a pod does not check. */
  readonly unlooked: readonly string[];
}

/** Limits of the check: the paths have to fit into the object of the configuration. */
const MOST_TARGETS = 200;
const LONGEST_PATH = 255;

/** Files that the hub's API, the operator, or the hub writes at the start of a pod. */
const WRITTEN_BY_HUB = /^(automations|scenes|scripts|secrets)\.yaml$|^hub-operator\//;

/**
 * Finds the included targets, in the order of the files and their lines. Targets outside of the hub's
 * directory are left out.
 */
export function foreignTargets(files: Files, parse: typeof parseHubYaml, origins?: Origins): ForeignTargets {
  const targets = new Map<string, ForeignTarget>();
  const long = new Map<string, ForeignTarget>();
  for (const [name, text] of Object.entries(files)) {
    if (!isYaml(name) || !text.includes('!include')) continue;
    const file = parse(text);
    if (!('document' in file)) continue;
    const field = fieldOfFile(name, origins);
    visit(file.document, {
      Scalar(_, node) {
        if (!isScalar(node) || !node.tag?.startsWith('!include')) return;
        const type = isIncludeOfFolder(node) ? 'folder' : 'file';
        const path = nameInConfig(String(node.value), posix.dirname(name));
        const key = `${type} ${path}`;
        if (targets.has(key) || long.has(key) || isElsewhere(path) || WRITTEN_BY_HUB.test(path)) return;
        const isKnown =
          type === 'folder' ? includedFiles(Object.keys(files), path).length > 0 : Object.hasOwn(files, path);
        if (isKnown) return;
        const { line, column } = file.positionOf(node.range![0]);
        const found = path.length > LONGEST_PATH ? long : targets;
        found.set(key, { type, path, place: `${field}, line ${line}, column ${column}` });
      },
    });
  }
  const all = [...targets.values()];
  const more = all.slice(MOST_TARGETS);
  const unlooked = [
    ...[...long.values()].slice(0, MOST_LONG).map(longPath),
    ...more.slice(0, 1).map(beyond(more.length)),
  ];
  return { targets: all.slice(0, MOST_TARGETS), unlooked };
}

const UNKNOWN = 'so nothing says whether the hub’s volume has';

/** Maximum number of long paths that are named. */
const MOST_LONG = 5;
const SHOWN_OF_PATH = 60;

const longPath = ({ type, path, place }: ForeignTarget): string =>
  `${place}: includes the ${type} ${path.slice(0, SHOWN_OF_PATH)}…, whose path has ${path.length} characters. Only paths of up to ${LONGEST_PATH} are looked for, ${UNKNOWN} it. Shorten it.`;

const beyond =
  (count: number) =>
  ({ type, path, place }: ForeignTarget): string =>
    `${place}: includes the ${type} ${path}${count > 1 ? `, the first of ${count}` : ''} beyond the ${MOST_TARGETS} files and folders that are looked for, ${UNKNOWN} ${count > 1 ? 'them' : 'it'}. Put them into spec.files, or include one folder above them.`;

/**
 * Reports whether a path is not a target to check: the hub's directory itself, which always has files, or a
 * path outside of it.
 */
const isElsewhere = (path: string): boolean => path === '.' || path.startsWith('..') || path.startsWith('/');

/** The paths of the folders among the targets. */
export const foldersOf = (targets: readonly ForeignTarget[]): readonly string[] =>
  targets.filter(({ type }) => type === 'folder').map(({ path }) => path);

/** Sentences about a target: its place, its effect and the remedy. */
export function foreignWarning({ type, path, place }: ForeignTarget): string {
  const [what, effect] =
    type === 'folder'
      ? ['the folder', 'the hub loads nothing of it']
      : ['the file', 'a hub that runs rejects the configuration, and for one that starts the file is empty'];
  return `${place}: includes ${what} ${path}, which spec.files does not have: ${effect}, unless its volume has it. ${wayOut(type)}`;
}

/**
 * A sentence about an included file that the hub's check could not read. In contrast to {@link
 * foreignWarning}, the volume is known not to have it.
 */
export const missingFile = ({ path, place }: ForeignTarget): string =>
  `${place}: includes the file ${path}, which neither spec.files nor the hub’s volume has. ${wayOut('file')}`;

export const wayOut = (type: ForeignTarget['type']): string =>
  type === 'folder'
    ? 'Put its files into spec.files with their folder, such as packages/hall.yaml, and with the ending .yaml, which the hub reads; correct its name; or write the folder on the volume.'
    : 'Put it into spec.files, correct its name, or write it on the volume.';
