import { posix } from 'node:path';
import { isAlias, isMap, isScalar, isSeq, type Node, type Scalar } from 'yaml';
import { type HubYaml, parseHubYaml } from './hub-yaml';
import { dereference, entriesOf, entryOf } from './merge-keys';

/**
 * The files that a hub loads, by path in its directory: `configuration.yaml` and the files that it includes.
 */
export type Files = Readonly<Record<string, string>>;

/** For each file that is not from `spec.files`, by path: its place in the spec, in words. */
export type Origins = Readonly<Record<string, string>>;

/**
 * The field that a file comes from, with which a message begins: `spec.configuration`,
 * `spec.files[sensors.yaml]`.
 */
export function fieldOfFile(name: string, origins: Origins = {}): string {
  if (name === 'configuration.yaml') return 'spec.configuration';
  return Object.hasOwn(origins, name) ? origins[name]! : `spec.files[${name}]`;
}

/**
 * A parsed file with its path. Files with the same text are distinct, since the meaning of their includes
 * depends on their folder.
 */
export interface ConfigFile extends HubYaml {
  /** Path in the hub's directory. */
  readonly name: string;
}

/** A node with the file that contains it. */
export interface Place {
  readonly node: Node | null;
  readonly file: ConfigFile;
}

/** Limit that ends a circle of files that include each other. */
const LONGEST_INCLUDE_CHAIN = 16;

/**
 * The files of a configuration as one document. Each is parsed when it is needed. Includes of known files are
 * followed.
 */
export class ConfigFiles {
  private readonly parsed = new Map<string, ConfigFile | undefined>();
  readonly names: readonly string[];

  constructor(
    private readonly files: Files,
    private readonly parseText = parseHubYaml,
    private readonly origins: Origins = {},
  ) {
    this.names = Object.keys(files);
  }

  /**
   * The root of `configuration.yaml`.
   *
   * @returns undefined when it is not YAML
   */
  get root(): Place | undefined {
    const file = this.parse('configuration.yaml');
    return file && { node: file.root, file };
  }

  /**
   * Parses a file.
   *
   * @returns undefined when there is no such file, or it is not YAML
   */
  parse(name: string): ConfigFile | undefined {
    if (!this.parsed.has(name)) {
      const text = Object.hasOwn(this.files, name) ? this.files[name] : undefined;
      const parsed = text === undefined ? undefined : this.parseText(text);
      this.parsed.set(name, parsed && 'document' in parsed ? { ...parsed, name } : undefined);
    }
    return this.parsed.get(name);
  }

  /** The field of the spec that the file comes from. */
  fieldOf(name: string): string {
    return fieldOfFile(name, this.origins);
  }

  /** The text of a file. Empty if there is no such file. */
  textOf(name: string): string {
    return Object.hasOwn(this.files, name) ? this.files[name]! : '';
  }

  /** Follows aliases and includes of known files to the node that they refer to. */
  follow(place: Place): Place {
    let { node, file } = place;
    for (let step = 0; step < LONGEST_INCLUDE_CHAIN; step++) {
      if (isAlias(node)) node = dereference(node, file.anchors);
      const included = this.included({ node, file });
      if (!included) break;
      node = included.root;
      file = included;
    }
    return { node, file };
  }

  /**
   * The file that the node includes.
   *
   * @returns undefined when the node is not an include, or includes an unknown file
   */
  included({ node, file }: Place): ConfigFile | undefined {
    if (!isScalar(node) || node.tag !== '!include') return undefined;
    return this.parse(includedPath(node, file.name));
  }

  /** The known files that the node includes as a folder, sorted by path. */
  inFolder({ node, file }: Place): readonly ConfigFile[] {
    if (!isScalar(node) || !isIncludeOfFolder(node)) return [];
    return includedFiles(this.names, includedPath(node, file.name)).flatMap((name) => this.parse(name) ?? []);
  }

  /**
   * The entries of a mapping. An include of a folder as a mapping counts as one, as in the hub. Empty for any
   * other node.
   */
  entries(place: Place): Map<string, Place> {
    const meant = this.follow(place);
    const { node, file } = meant;
    if (isMap(node))
      return new Map([...entriesOf(node, file.anchors)].map(([key, value]) => [key, { node: value, file }]));
    const roots = this.inFolder(meant).map((each): Place => ({ node: each.root, file: each }));
    if (tagOf(node) === '!include_dir_named')
      return new Map(roots.map((each) => [posix.basename(each.file.name, '.yaml'), each]));
    if (tagOf(node) === '!include_dir_merge_named')
      return new Map(roots.filter((each) => this.isWritten(each)).flatMap((each) => [...this.entries(each)]));
    return new Map();
  }

  /**
   * The items of a list. An include of a folder as a list counts as one, as in the hub. A mapping counts as a
   * list of one item.
   */
  items(place: Place): readonly Place[] {
    const meant = this.follow(place);
    const { node, file } = meant;
    if (isSeq(node)) return (node.items as Node[]).map((item) => ({ node: item, file }));
    if (isMap(node)) return [meant];
    const roots = this.inFolder(meant).map((each): Place => ({ node: each.root, file: each }));
    if (tagOf(node) === '!include_dir_list') return roots;
    if (tagOf(node) === '!include_dir_merge_list')
      return roots.flatMap((each) => (isSeq(each.node) ? this.items(each) : []));
    return [];
  }

  /** Reports whether the node is a mapping, or an include of known files as a mapping. */
  isMapping(place: Place): boolean {
    const meant = this.follow(place);
    const isNamed = /^!include_dir_(merge_)?named$/.test(tagOf(meant.node));
    return isMap(meant.node) || (isNamed && this.inFolder(meant).length > 0);
  }

  /**
   * Reports whether the node is a literal mapping. An include of a folder does not count, since it might
   * contain itself.
   */
  private isWritten(place: Place): boolean {
    return isMap(this.follow(place).node);
  }

  /**
   * The entry of a mapping.
   *
   * @returns undefined when there is no such entry, or the node is no mapping
   */
  entry(place: Place, key: string): Place | undefined {
    const { node, file } = this.follow(place);
    if (!isMap(node)) return this.entries({ node, file }).get(key);
    const value = entryOf(node, key, file.anchors);
    return value === undefined ? undefined : { node: value, file };
  }

  /** The section of `configuration.yaml`, and the sections of that name in its packages, as written. */
  section(name: string): { readonly own: Place | undefined; readonly inPackages: readonly Place[] } {
    return {
      own: this.root && this.entry(this.root, name),
      inPackages: this.packages.flatMap((each) => this.entry(each, name) ?? []),
    };
  }

  get packages(): readonly Place[] {
    const core = this.root && this.entry(this.root, 'homeassistant');
    const packages = core && this.entry(core, 'packages');
    return packages ? [...this.entries(packages).values()] : [];
  }
}

const tagOf = (node: Node | null): string => (isScalar(node) ? (node.tag ?? '') : '');

/**
 * Reports whether the hub's check reads the file as YAML in any case. Other files are YAML only if a file
 * includes them.
 */
export const isYaml = (name: string): boolean => /\.ya?ml$/.test(name);

/** Reports whether a node includes the files of a folder: `!include_dir_named` and similar tags. */
export const isIncludeOfFolder = (node: unknown): boolean =>
  isScalar(node) && node.tag?.startsWith('!include_dir') === true;

/**
 * The names of the files that the hub reads when a folder is included, also in its subfolders. Of two files
 * with the same entry, the later one takes effect. Here folders are sorted by name. The hub reads them in the
 * order of its file system.
 */
export function includedFiles(names: readonly string[], folder: string): readonly string[] {
  const prefix = folder === '.' ? '' : `${folder}/`;
  return names.filter((name) => name.startsWith(prefix) && isReadInFolder(name, prefix)).sort(inOrderOfHub);
}

/** Orders paths so that the files of a folder come before the files of its subfolders. */
function inOrderOfHub(one: string, other: string): number {
  const [parts, others] = [one.split('/'), other.split('/')];
  const first = parts.findIndex((part, index) => part !== others[index]);
  if (first < 0) return 0;
  const isFile = first === parts.length - 1;
  if (isFile !== (first === others.length - 1)) return isFile ? -1 : 1;
  return parts[first]! < others[first]! ? -1 : 1;
}

function isReadInFolder(name: string, prefix: string): boolean {
  if (name === 'configuration.yaml' || !name.endsWith('.yaml')) return false;
  return posix.basename(name) !== 'secrets.yaml' && !`/${name.slice(prefix.length)}`.includes('/.');
}

/** The path in the hub's directory that an include in this file refers to. */
const includedPath = (node: Scalar, file: string): string =>
  nameInConfig(String(node.value), posix.dirname(file));

/**
 * The path in the hub's directory: `sensors.yaml` for `./sensors.yaml` and `/config/sensors.yaml`.
 *
 * @param folder folder in the hub's directory that the path is relative to
 */
export function nameInConfig(path: string, folder = '.'): string {
  const inConfig = /^\/config(\/|$)/.test(path) ? path.replace(/^\/config(\/|$)/, './') : undefined;
  const joined = inConfig ?? (path.startsWith('/') ? path : `${folder}/${path}`);
  const relative = posix.normalize(joined).replace(/\/$/, '');
  return relative === '' ? '.' : relative;
}
