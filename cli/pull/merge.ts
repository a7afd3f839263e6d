import { isDeepStrictEqual } from 'node:util';
import {
  type Document,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import { isObject } from '../../operator/base/is-object';
import { quoteTexts } from '../export/yaml-text';

/**
 * Gives the node the value. Parts that have their value already stay as they are, with their comments, order and form; others
 * are replaced or removed, and new ones come last.
 */
export function mergeInto(document: Document, node: Node | null, value: unknown): Node {
  if (node && isDeepStrictEqual(valueOf(document, node), value)) return node;
  if (isMap(node) && isObject(value)) return mergeMap(document, node, value);
  if (isSeq(node) && Array.isArray(value)) return mergeList(document, node, value);
  const fresh = document.createNode(value, { aliasDuplicateObjects: false }) as Node;
  quoteTexts(fresh);
  if (node && isScalar(node) && isScalar(fresh)) {
    fresh.comment = node.comment ?? null;
    fresh.commentBefore = node.commentBefore ?? null;
  }
  return fresh;
}

function mergeMap(document: Document, map: YAMLMap, value: Readonly<Record<string, unknown>>): YAMLMap {
  map.items = map.items.filter(({ key }) => Object.hasOwn(value, keyOfPair(key)));
  for (const [key, part] of Object.entries(value)) {
    const pair = map.items.find((each) => keyOfPair(each.key) === key) as Pair<Node, Node | null> | undefined;
    if (pair) pair.value = mergeInto(document, pair.value, part);
    else {
      const added = document.createPair(key, part) as Pair<Node, Node | null>;
      for (const node of [added.key, added.value]) if (node) quoteTexts(node);
      map.items.push(added);
    }
  }
  return map;
}

const keyOfPair = (key: unknown): string => (isScalar(key) ? String(key.value) : String(key));

/** Items that are there already keep their nodes; between them, items are merged in their order. */
function mergeList(document: Document, list: YAMLSeq, value: readonly unknown[]): YAMLSeq {
  const nodes = list.items as (Node | null)[];
  const values = nodes.map((node) => valueOf(document, node));
  const kept = longestCommon(values, value);
  const merged: Node[] = [];
  let from = 0;
  let to = 0;
  for (const [oldEnd, newEnd] of [...kept, [nodes.length, value.length] as const]) {
    for (; to < newEnd; to += 1) {
      const former = from < oldEnd ? (nodes[from++] ?? null) : null;
      merged.push(mergeInto(document, former, value[to]));
    }
    if (newEnd < value.length) merged.push(nodes[oldEnd]!);
    from = oldEnd + 1;
    to = newEnd + 1;
  }
  list.items = merged;
  return list;
}

/** The places, in both lists, of a longest common subsequence. */
function longestCommon(a: readonly unknown[], b: readonly unknown[]): (readonly [number, number])[] {
  const lengths = Array.from({ length: a.length + 1 }, () => new Array<number>(b.length + 1).fill(0));
  for (let i = a.length - 1; i >= 0; i -= 1)
    for (let j = b.length - 1; j >= 0; j -= 1)
      lengths[i]![j] = isDeepStrictEqual(a[i], b[j])
        ? lengths[i + 1]![j + 1]! + 1
        : Math.max(lengths[i + 1]![j]!, lengths[i]![j + 1]!);
  const pairs: (readonly [number, number])[] = [];
  let [i, j] = [0, 0];
  while (i < a.length && j < b.length) {
    if (isDeepStrictEqual(a[i], b[j])) pairs.push([i++, j++]);
    else if (lengths[i + 1]![j]! >= lengths[i]![j + 1]!) i += 1;
    else j += 1;
  }
  return pairs;
}

const valueOf = (document: Document, node: Node | null): unknown => (node ? node.toJS(document) : null);
