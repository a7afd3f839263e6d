import { isAlias, isMap, isScalar, isSeq, type Document, type LineCounter, type Node, type Pair } from 'yaml';
import type { Path } from './field-path';

/** The line of a node, and the lines of its fields or items. */
export interface Lines {
  readonly line: number;
  readonly parts?: ReadonlyMap<string, Lines>;
  /** The characters of a number as written. */
  readonly source?: string;
}

/** The line of the part at a path, or of its nearest ancestor that exists. */
export function lineAt(lines: Lines, path: Path): number {
  return nearest(lines, path).line;
}

/** The characters of the number at the path; undefined if there is no number. */
export function sourceAt(lines: Lines, path: Path): string | undefined {
  return path.reduce<Lines | undefined>((at, step) => at?.parts?.get(String(step)), lines)?.source;
}

function nearest(lines: Lines, [step, ...rest]: Path): Lines {
  const part = step === undefined ? undefined : lines.parts?.get(String(step));
  return part ? nearest(part, rest) : lines;
}

/** The first line of a node; 1 if there is no node. */
export const lineIn =
  (counter: LineCounter) =>
  (node: Node | null | undefined): number =>
    counter.linePos(node?.range?.[0] ?? 0).line;

interface Reading {
  readonly lineOf: (node: Node | null) => number;
  /**
   * The document, needed to give aliases the parts of their anchors, and numbers their characters. Its
   * aliases must not expand beyond the limits.
   */
  readonly whole?: Document;
}

/**
 * The lines of a document. Without {@link Reading.whole}, an alias has only the line in which it stands, and
 * no parts.
 *
 * @param line line of the key of the node, or of the node itself in a list
 */
export function linesOf(given: Node | null, line: number, reading: Reading): Lines {
  const { lineOf, whole } = reading;
  const node = whole && isAlias(given) ? (given.resolve(whole) ?? null) : given;
  if (isMap(node)) {
    const parts = new Map<string, Lines>();
    for (const { key, value } of node.items as Pair<Node, Node | null>[])
      if (isScalar(key) && !parts.has(String(key.value)))
        parts.set(String(key.value), linesOf(value, node === given ? lineOf(key) : line, reading));
    return { line, parts };
  }
  if (whole && isScalar(node) && typeof node.value === 'number' && node.source !== undefined)
    return { line, source: node.source };
  if (!isSeq(node)) return { line };
  const items = (node.items as (Node | null)[]).map(
    (item, index) =>
      [String(index), linesOf(item, item && node === given ? lineOf(item) : line, reading)] as const,
  );
  return { line, parts: new Map(items) };
}
