import {
  type Alias,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  type Scalar,
  type YAMLMap,
} from 'yaml';

/** The node that each alias refers to. */
export type Anchors = ReadonlyMap<Alias, Node | undefined>;

/**
 * The entries of a mapping by key, including those of merged mappings (`<<: *defaults`). Keys that are not
 * scalars are left out. Each mapping is visited only once even if it is merged several times, since later
 * visits add no new keys.
 */
export function entriesOf(map: YAMLMap, anchors: Anchors): Map<string, Node | null> {
  const entries = new Map<string, Node | null>();
  const visited = new Set<YAMLMap>();
  const ahead = [map];
  for (let next = ahead.pop(); next; next = ahead.pop()) {
    if (visited.has(next)) continue;
    visited.add(next);
    const { own, merged } = partsOf(next, anchors);
    for (const [name, value] of own) if (!entries.has(name)) entries.set(name, value);
    for (const source of merged.reverse()) ahead.push(source);
  }
  return entries;
}

/** The results of {@link entryOf} for each mapping, by key. */
const found = new WeakMap<YAMLMap, Map<string, Node | null | undefined>>();

/**
 * The entry of one key. Results are cached for each mapping, since in a list whose items merge each other in
 * a chain of thousands, each item is asked for the same key.
 *
 * @returns undefined when there is no such entry
 */
export function entryOf(map: YAMLMap, name: string, anchors: Anchors): Node | null | undefined {
  const known = found.get(map) ?? new Map<string, Node | null | undefined>();
  if (known.has(name)) return known.get(name);
  found.set(map, known.set(name, undefined)); // ends the recursion in a mapping that merges itself
  const { own, merged } = partsOf(map, anchors);
  let entry = own.get(name);
  for (const source of entry === undefined ? merged : []) {
    entry = entryOf(source, name, anchors);
    if (entry !== undefined) break;
  }
  known.set(name, entry);
  return entry;
}

/** The node itself, or the node that an alias refers to. */
export function dereference(node: Node | null, anchors: Anchors): Node | null {
  return isAlias(node) ? (anchors.get(node) ?? null) : node;
}

export const isMergeKey = ({ type, value }: Scalar): boolean => type === 'PLAIN' && value === '<<';

function partsOf(map: YAMLMap, anchors: Anchors) {
  const own = new Map<string, Node | null>();
  let merged: YAMLMap[] = [];
  for (const { key, value } of map.items as Pair<Node, Node | null>[]) {
    const name = dereference(key, anchors);
    if (!isScalar(name)) continue;
    if (isMergeKey(name)) merged = merged.concat(mappingsIn(value, anchors));
    else own.set(String(name.value), value);
  }
  return { own, merged };
}

/**
 * The mappings that a merge key refers to: a single one, or those of a list. If several have a key, the first
 * one provides its value.
 */
function mappingsIn(value: Node | null, anchors: Anchors): YAMLMap[] {
  const source = dereference(value, anchors);
  const maps = isSeq(source) ? source.items.map((item) => dereference(item as Node, anchors)) : [source];
  return maps.filter((each) => isMap(each));
}
