import { isAlias, isMap, isScalar, isSeq, type Node, type Scalar, visit } from 'yaml';
import type { HubYaml } from '../generate/hub-yaml';

// The hub saves texts that it then cannot send as JSON. Its answers about all blueprints of the domain fail
// from then on, so the UI of the household shows none, and the operator cannot repair the text either.

/** Maximum number of levels. The hub's JSON encoder has a limit of 254 for a whole answer. */
const MOST_LEVELS = 100;

/**
 * Maximum number of values after each alias is replaced by its value, as the hub does. A text of the longest
 * length without aliases has fewer.
 */
const MOST_VALUES = 300_000;

const LARGEST = 2n ** 64n - 1n;
const LOWEST = -(2n ** 63n);

/** Tags of YAML whose values the hub can send. Sets have another order after each start. */
const SENDABLE = new Set(
  ['str', 'int', 'float', 'bool', 'null', 'map', 'seq', 'timestamp'].map(
    (each) => `tag:yaml.org,2002:${each}`,
  ),
);

/** Finds a value that the hub would save and could not send, or that would block the hub. */
export function unusableValue(file: HubYaml): { readonly problem: string; readonly node: Node } | undefined {
  const { root, document } = file;
  if (!root) return undefined;
  const { values, levels } = extentOf(file, root);
  if (levels > MOST_LEVELS) return { problem: 'it is nested too deeply', node: root };
  if (values > MOST_VALUES)
    return { problem: `its aliases expand to more than ${MOST_VALUES} values: shorten it`, node: root };
  let found: ReturnType<typeof unusableValue>;
  visit(document, {
    Node: (_, node) => {
      const problem = problemOf(node);
      if (problem === undefined) return undefined;
      found = { problem, node: node };
      return visit.BREAK;
    },
  });
  return found;
}

function problemOf(node: Node): string | undefined {
  const { tag = '' } = node as { tag?: string };
  if (tag.startsWith('tag:') && !SENDABLE.has(tag))
    return `!!${tag.slice(tag.lastIndexOf(':') + 1)} is not accepted in a blueprint: write the value as text`;
  if (isScalar(node) && isTooLong(node))
    return 'the number has more than 64 bits, which the hub cannot send: write it in quotes';
  // The hub removes this text from the YAML that it writes, and so changes the blueprint at its next reload.
  if (isScalar(node) && String(node.value).includes(': null\n'))
    return 'the hub removes null from the end of a line of a text: add a space or a comma after it';
  return undefined;
}

function isTooLong({ type, tag, value }: Scalar): boolean {
  const isNumber = tag === 'tag:yaml.org,2002:int' || (tag === undefined && type === 'PLAIN');
  const text = String(value).replaceAll('_', '');
  if (!isNumber || !/^[-+]?(0b[01]+|0x[\da-fA-F]+|\d+)$/.test(text)) return false;
  if (text.length > 70) return true;
  const number = BigInt(text.replace(/^[-+]/, ''));
  return text.startsWith('-') ? -number < LOWEST : number > LARGEST;
}

interface Extent {
  readonly values: number;
  readonly levels: number;
}

const ENDLESS: Extent = { values: 1, levels: Infinity };

/** The number of values and levels after aliases are replaced. Each node is counted once, so the cost is linear. */
function extentOf({ anchors }: HubYaml, root: Node): Extent {
  const known = new Map<Node, Extent>();
  const childrenOf = (node: Node): readonly unknown[] => {
    if (isAlias(node)) return [anchors.get(node)];
    if (isSeq(node)) return node.items;
    return isMap(node) ? node.items.flatMap(({ key, value }) => [key, value]) : [];
  };
  const of = (node: Node, depth: number): Extent => {
    const before = known.get(node);
    if (before) return before;
    if (depth > MOST_LEVELS) return ENDLESS;
    known.set(node, ENDLESS); // an alias inside its own value
    let values = 1;
    let levels = 0;
    for (const child of childrenOf(node)) {
      if (!child) continue;
      const inner = of(child as Node, depth + 1);
      values += inner.values;
      levels = Math.max(levels, inner.levels);
    }
    const extent = { values, levels: isAlias(node) ? levels : levels + 1 };
    known.set(node, extent);
    return extent;
  };
  return of(root, 0);
}
