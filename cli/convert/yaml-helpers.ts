import { isAlias, isMap, isScalar, type Node, type Pair, parseDocument, visit, type YAMLMap } from 'yaml';
import type { BoundedTask } from '../../operator/base/bounded-task';
import { numbersOfJson } from '../../operator/offline/manifests';
import {
  ConfigFiles,
  type ConfigFile,
  type Files,
  isYaml,
  type Place,
} from '../../operator/sync/configuration/generate/config-files';
import { isMergeKey } from '../../operator/sync/configuration/generate/merge-keys';
import { helperDomainNames, helperFields, type HelperDomain } from './helper-fields';
import { hubReading } from './hub-reading';

/** A helper in a section of the hub’s YAML, such as `input_boolean:`. */
export interface YamlHelper {
  readonly domain: HelperDomain;
  readonly id: string;
  readonly file: string;
  readonly line: number;
  /** The fields in the form of the hub’s storage. Absent if a HubHelper cannot be equal. */
  readonly fields?: Readonly<Record<string, unknown>>;
  /** Why the helper stays in the file, in words without a full stop. Absent if it need not. */
  readonly reason?: string;
}

/** Finds the helpers in `configuration.yaml`, in its packages and in the files that they include. */
export const yamlHelpersTask: BoundedTask<Files, readonly YamlHelper[]> = {
  name: 'yamlHelpers',
  run: (files) => withoutDoubles(new ConfigFiles(files), files),
};

/** The place of a helper in a file. */
export interface HelperPlace {
  readonly domain: HelperDomain;
  readonly id: string;
  readonly file: ConfigFile;
  /** Undefined if the file is the helper, in a folder that `!include_dir_named` includes. */
  readonly pair?: Pair<Node, Node | null>;
  readonly map?: YAMLMap;
  /** Whether the section has `<<`. */
  readonly isMerged?: boolean;
  /** Whether the section is in a part of the file that an alias repeats. */
  readonly isRepeated?: boolean;
}

/** All helpers of a configuration in the order of domains and files. */
export function yamlHelpers(files: ConfigFiles): readonly HelperPlace[] {
  return helperDomainNames.flatMap((domain) => {
    const { own, inPackages } = files.section(domain);
    return [...(own ? [own] : []), ...inPackages].flatMap((place) => inSection(files, domain, place));
  });
}

function inSection(files: ConfigFiles, domain: HelperDomain, place: Place): readonly HelperPlace[] {
  const meant = files.follow(place);
  const { node, file } = meant;
  const isMerged = isMap(node) && node.items.some(isMerge);
  const isRepeated = [...new Set(file.anchors.values())].some((target) => contains(target, node));
  if (isMap(node))
    return node.items
      .filter((pair) => !isMerge(pair))
      .map((pair) => ({
        domain,
        id: isScalar(pair.key) ? String(pair.key.value) : '',
        file,
        map: node,
        isMerged,
        isRepeated,
        pair: pair as Pair<Node, Node | null>,
      }));
  const { tag } = (node ?? {}) as { readonly tag?: string };
  if (tag === '!include_dir_merge_named')
    return files
      .inFolder(meant)
      .flatMap((each) => (isMap(each.root) ? inSection(files, domain, { node: each.root, file: each }) : []));
  return [...files.entries(meant)].map(([id, { file: own }]) => ({ domain, id, file: own }));
}

/** Reports whether a node of a file contains another one. */
function contains(outer: Node | undefined, inner: Node | null): boolean {
  if (!outer?.range || !inner?.range || outer === inner) return false;
  return outer.range[0] <= inner.range[0] && inner.range[1] <= outer.range[1];
}

const isMerge = ({ key }: Pair): boolean => isScalar(key) && isMergeKey(key);

/** Keys of the places, to find helpers of one id, and places that several sections include. */
const keysOf = ({ domain, id, file, pair }: HelperPlace): readonly string[] => [
  `${domain}.${id}`,
  `${file.name}:${pair?.key.range?.[0] ?? 0}`,
];

/** The files that more than one place includes: a line that is taken out of such a file is missing in all of them. */
function sharedFiles(files: ConfigFiles): ReadonlySet<string> {
  const included = new Set<string>();
  const shared = new Set<string>();
  for (const file of files.names.flatMap((name) => (isYaml(name) ? (files.parse(name) ?? []) : []))) {
    const follow = (node: Node) => {
      const place = { node, file };
      for (const { name } of [files.included(place) ?? [], files.inFolder(place)].flat())
        (included.has(name) ? shared : included).add(name);
    };
    if (file.root) visit(file.root, { Scalar: (_, node) => follow(node) });
  }
  return shared;
}

function withoutDoubles(config: ConfigFiles, files: Files): readonly YamlHelper[] {
  const places = yamlHelpers(config);
  const shared = places.length > 0 ? sharedFiles(config) : new Set();
  const counts = new Map<string, number>();
  for (const key of places.flatMap(keysOf)) counts.set(key, (counts.get(key) ?? 0) + 1);
  const typed = new TypedFiles(files);
  return places.map((place) => {
    const { domain, id, file, pair } = place;
    const { line } = file.positionOf(pair?.key.range?.[0] ?? 0);
    const base = { domain, id, file: file.name, line };
    if (keysOf(place).some((key) => counts.get(key)! > 1))
      return { ...base, reason: 'the configuration has it twice: remove one of the two' };
    if (shared.has(file.name))
      return {
        ...base,
        reason: 'its file is included more than once: write the helper into a file of its own',
      };
    const reason = unfit(place);
    if (reason !== undefined) return { ...base, reason };
    const found = typed.valueOf(file.name, pair!);
    if (found && found.key !== id)
      return { ...base, reason: 'its key is no text to the hub: write it in quotes' };
    return { ...base, ...(found ? helperFields(domain, id, found.value) : { reason: UNREAD }) };
  });
}

const UNREAD = 'it cannot be read without the rest of the file: write it as a mapping of its own';

/** Longest id that `spec.id` can have. */
const LONGEST_ID = 64;

/** Why the text of a helper cannot be taken out of its file; undefined if it can. */
function unfit({ id, pair, map, isMerged, isRepeated }: HelperPlace): string | undefined {
  if (!pair || !map) return 'the file is included as one helper: write it into a section, with its id as key';
  if (!isScalar(pair.key) || !/^[a-z0-9]+(_[a-z0-9]+)*$/.test(id) || id.length > LONGEST_ID)
    return `its key is no id of a HubHelper, which has up to ${LONGEST_ID} of a-z, 0-9 and single _`;
  let found: string | undefined;
  const look = (node: Node) => {
    const { tag, anchor } = node as { readonly tag?: string; readonly anchor?: string };
    if (tag?.startsWith('!') && tag !== '!')
      found ??= `it uses ${tag}, which a resource cannot: write the value itself`;
    else if (anchor !== undefined || isAlias(node))
      found ??= 'it has an anchor or an alias: write the values out';
  };
  for (const part of [pair.key, pair.value]) if (part) visit(part, { Node: (_, node) => look(node) });
  if (found === undefined && map.anchor !== undefined)
    return 'its section has an anchor: write the values out where the alias is';
  if (found === undefined && isRepeated)
    return 'it is in a part of the file with an anchor: write the values out where the alias is';
  if (isMerged)
    return 'its section merges another one (<<), which may have a helper of this id: write the values out';
  return found;
}

/** A key and its value with the types that the hub’s loader gives them. */
interface Typed {
  readonly key: unknown;
  readonly value: unknown;
}

/** The keys and values of files with their types. */
class TypedFiles {
  private readonly read = new Map<string, ReadonlyMap<number, () => Typed>>();

  constructor(private readonly files: Files) {}

  /** @returns undefined if the file has another form for this parser */
  valueOf(name: string, { key }: Pair<Node, Node | null>): Typed | undefined {
    const pairs = this.read.get(name) ?? this.pairsOf(name);
    this.read.set(name, pairs);
    return pairs.get(key.range![0])?.();
  }

  /** Values by the places of their keys. */
  private pairsOf(name: string): ReadonlyMap<number, () => Typed> {
    const pairs = new Map<number, () => Typed>();
    const document = parseDocument(this.files[name]!.replace(/^\ufeff/, ''), {
      ...hubReading,
      uniqueKeys: false, // the parser would compare every key with every other
      logLevel: 'error',
    });
    if (document.errors.length > 0) return pairs;
    visit(document, {
      Pair(_, { key, value }) {
        const start = (key as Node | null)?.range?.[0];
        const node = value as Node | null;
        if (start !== undefined)
          pairs.set(start, () => ({
            key: isScalar(key) ? key.value : undefined,
            value: node ? node.toJS(document, { reviver: numbersOfJson }) : null,
          }));
      },
    });
    return pairs;
  }
}
