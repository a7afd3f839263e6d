import { posix } from 'node:path';
import type { Files } from '../../operator/sync/configuration/generate/config-files';
import { slugOf } from '../export/names';

/** Files that become one ConfigMap, and one entry of `spec.filesFrom`. */
export interface ConfigMapPlan {
  readonly name: string;
  /** In the hub's directory; empty: the directory itself. */
  readonly folder: string;
  readonly files: readonly PlannedFile[];
}

interface PlannedFile {
  readonly key: string;
  /** In the hub's directory. */
  readonly path: string;
}

/** `kubectl apply` keeps a copy of an object in an annotation, which has room for 256 KiB. */
const LARGEST = 200 * 1024;
/** Entries of `spec.filesFrom`. */
const MOST = 32;
/** Items of an entry. */
const MOST_ITEMS = 200;

/** A name that is a key as it is. */
const isKey = (name: string): boolean => /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/.test(name);

/**
 * Puts files into ConfigMaps: one for each folder, so that a new file needs no other entry; where there are too many folders, one for
 * each folder at the top, or as few as there is room for. A file that is larger than the limit has one of its own.
 */
export function planConfigMaps(hub: string, files: Files): readonly ConfigMapPlan[] {
  const paths = Object.keys(files).sort();
  const plans = [(path: string) => posix.dirname(path), topOf, () => ALL].map(
    (folderOf) => () => plan(hub, files, grouped(paths, folderOf)),
  );
  let last: readonly ConfigMapPlan[] = [];
  for (const make of plans) {
    last = make();
    if (last.length <= MOST) break;
  }
  return last;
}

/** The directory of the hub itself. */
const ALL = '.';

const topOf = (path: string): string => (path.includes('/') ? path.slice(0, path.indexOf('/')) : ALL);

function grouped(paths: readonly string[], folderOf: (path: string) => string) {
  const groups = new Map<string, string[]>();
  for (const path of paths) {
    const folder = folderOf(path);
    groups.set(folder, [...(groups.get(folder) ?? []), path]);
  }
  return groups;
}

function plan(hub: string, files: Files, groups: ReadonlyMap<string, readonly string[]>): ConfigMapPlan[] {
  const names = new Set<string>();
  return [...groups].flatMap(([group, paths]) => {
    const folder = group === ALL ? '' : group;
    return chunked(files, paths).map((chunk) => ({
      name: freeName(`${hub}-${nameOf(folder)}`, names),
      folder,
      files: keyed(folder, chunk),
    }));
  });
}

/** Names of ConfigMaps that the operator itself makes for the hub, without the name of the hub. */
const OF_OPERATOR = /^(configuration|delivery|operator)(-|$)/;

function nameOf(folder: string): string {
  const slug = slugOf(folder) || 'files';
  return OF_OPERATOR.test(slug) ? `files-${slug}` : slug;
}

function chunked(files: Files, paths: readonly string[]): readonly (readonly string[])[] {
  const chunks: string[][] = [];
  let room = 0;
  for (const path of paths) {
    const size = Buffer.byteLength(files[path]!) + path.length;
    if (chunks.length === 0 || size > room || chunks.at(-1)!.length >= MOST_ITEMS) {
      chunks.push([]);
      room = LARGEST;
    }
    chunks.at(-1)!.push(path);
    room -= size;
  }
  return chunks;
}

function freeName(name: string, taken: Set<string>): string {
  let free = name;
  for (let number = 2; taken.has(free); number += 1) free = `${name}-${number}`;
  taken.add(free);
  return free;
}

function keyed(folder: string, paths: readonly string[]): readonly PlannedFile[] {
  const taken = new Set<string>();
  return paths.map((path) => {
    const within = withinFolder(folder, path);
    const key = isKey(within) ? within : within.replace(/[^A-Za-z0-9_.-]/g, '_');
    return { path, key: freeName(key, taken) };
  });
}

/** The path of a file within the folder of its ConfigMap. */
const withinFolder = (folder: string, path: string): string =>
  folder === '' ? path : path.slice(folder.length + 1);

/** The entry of `spec.filesFrom`. Without `items` a further key is a further file. */
export function filesFromOf({ name, folder, files }: ConfigMapPlan): object {
  const isPlain = files.every(({ key, path }) => key === withinFolder(folder, path));
  return {
    configMapRef: { name },
    ...(folder !== '' && { folder }),
    ...(!isPlain && { items: files.map(({ key, path }) => ({ key, path: withinFolder(folder, path) })) }),
  };
}
