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
 * The entries of a mapping by key, those of merged mappings (`<<: *defaults`) included, as far as keys are scalars. Each mapping is
 * visited once, however often it is merged: the first visit has given all its keys.
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

/** The values that {@link entryOf} has found, by key. */
const found = new WeakMap<YAMLMap, Map<string, Node | null | undefined>>();

/**
 * The entry of one key; undefined: there is none. It is remembered for each mapping: items of a list that merge each other in a chain
 * of thousands are asked for it one by one.
 */
export function entryOf(map: YAMLMap, name: string, anchors: Anchors): Node | null | undefined {
  const known = found.get(map) ?? new Map<string, Node | null | undefined>();
  if (known.has(name)) return known.get(name);
  found.set(map, known.set(name, undefined)); // a mapping that merges itself ends here
  const { own, merged } = partsOf(map, anchors);
  let entry = own.get(name);
  for (const source of entry === undefined ? merged : []) {
    entry = entryOf(source, name, anchors);
    if (entry !== undefined) break;
  }
  known.set(name, entry);
  return entry;
}

/** The node itself, or the one that an alias refers to. */
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

/** One mapping, or those of a list: the first one that has a key gives its value. */
function mappingsIn(value: Node | null, anchors: Anchors): YAMLMap[] {
  const source = dereference(value, anchors);
  const maps = isSeq(source) ? source.items.map((item) => dereference(item as Node, anchors)) : [source];
  return maps.filter((each) => isMap(each));
}
