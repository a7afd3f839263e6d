import { posix } from 'node:path';
import type { Files } from '../../operator/sync/configuration/generate/config-files';
import { slugOf } from '../export/names';

/** Files that go into one ConfigMap, and one entry of `spec.filesFrom`. */
export interface ConfigMapPlan {
  readonly name: string;
  /** Folder in the hub's directory; empty for the directory itself. */
  readonly folder: string;
  readonly files: readonly PlannedFile[];
}

interface PlannedFile {
  readonly key: string;
  /** Path in the hub's directory. */
  readonly path: string;
}

/**
 * Bytes of a ConfigMap. `kubectl apply` stores a copy of an object in an annotation, which is limited to 256
 * KiB.
 */
const LARGEST = 200 * 1024;
/** Most entries of `spec.filesFrom`. */
const MOST = 32;
/** Most items of an entry. */
const MOST_ITEMS = 200;

/** Whether a file name can be a ConfigMap key unchanged. */
const isKey = (name: string): boolean => /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/.test(name);

/**
 * Distributes files over ConfigMaps: one per folder, so that a new file needs no new entry. If there are too
 * many folders, one per top-level folder is used, or as few as possible. A file that is larger than the limit
 * gets a ConfigMap of its own.
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

/** Stands for the hub's directory itself. */
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

/** Names of ConfigMaps that the operator generates for a hub, without the prefix of the hub's name. */
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

/** The path of a file, relative to the folder of its ConfigMap. */
const withinFolder = (folder: string, path: string): string =>
  folder === '' ? path : path.slice(folder.length + 1);

/**
 * The entry of `spec.filesFrom`. It has no `items` if all keys are file names: a key that is added later is
 * then a further file.
 */
export function filesFromOf({ name, folder, files }: ConfigMapPlan): object {
  const isPlain = files.every(({ key, path }) => key === withinFolder(folder, path));
  return {
    configMapRef: { name },
    ...(folder !== '' && { folder }),
    ...(!isPlain && { items: files.map(({ key, path }) => ({ key, path: withinFolder(folder, path) })) }),
  };
}
