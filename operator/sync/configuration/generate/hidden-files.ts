import { fewNames } from '../../../base/few-names';
import { posix } from 'node:path';
import { isMap, isScalar, visit } from 'yaml';
import { truncate } from '../../../base/truncate';
import { type ConfigFile, type ConfigFiles, isYaml, type Place } from './config-files';

/** Maximum number of sentences that are returned. */
const MOST = 50;
/** Maximum number of files named in a sentence. */
const MOST_FILES = 5;
/** Maximum number of characters of a name in a sentence. */
const LONGEST_NAME = 60;

/**
 * Sentences, each with the place of an include, about names that occur twice in an included folder. Of
 * several files, or entries of files, with one name the hub silently loads only one.
 */
export function hiddenInFolders(files: ConfigFiles): readonly string[] {
  const found: string[] = [];
  for (const name of files.names) {
    if (!isYaml(name) || !files.textOf(name).includes('!include_dir')) continue;
    const file = files.parse(name);
    if (!file) continue;
    visit(file.document, {
      Scalar(_, node) {
        if (!isScalar(node)) return;
        const { line, column } = file.positionOf(node.range![0]);
        const place = `${files.fieldOf(name)}, line ${line}, column ${column}`;
        for (const [key, included] of namesOf(files, { node, file }))
          if (included.length > 1) found.push(sentence(place, node.tag, key, included));
      },
    });
  }
  return found.slice(0, MOST);
}

/** The names that an included folder provides, each with the files that provide it. */
function namesOf(files: ConfigFiles, place: Place): ReadonlyMap<string, readonly string[]> {
  const { tag } = place.node as { tag?: string };
  const keysOf = (file: ConfigFile): readonly string[] => {
    if (tag === '!include_dir_named') return [posix.basename(file.name, '.yaml')];
    const root = files.follow({ node: file.root, file });
    return isMap(root.node) ? [...files.entries(root).keys()] : [];
  };
  const names = new Map<string, string[]>();
  if (tag !== '!include_dir_named' && tag !== '!include_dir_merge_named') return names;
  for (const file of files.inFolder(place))
    for (const key of keysOf(file)) names.set(key, [...(names.get(key) ?? []), file.name]);
  return names;
}

/**
 * The sentence about one name. It does not say which file is loaded: the hub does not sort folders, so that
 * depends on the file system.
 */
function sentence(place: string, tag: string | undefined, key: string, files: readonly string[]): string {
  const all = `the files ${fewNames(files, MOST_FILES)}`;
  const name = truncate(key, LONGEST_NAME);
  return tag === '!include_dir_named'
    ? `${place}: ${all} have one name, ${name}, and the hub loads only one of them. Rename the others.`
    : `${place}: ${all} have the entry ${name}, and the hub loads only one of these entries. Rename the others.`;
}
