import {
  type CST,
  isAlias,
  isCollection,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  Scalar,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import type { Indicator } from './print';

/** The place of a value in a text. */
export interface Slot {
  readonly value: Node | null;
  readonly indicator: Indicator;
  /** Offset after the indicator or, for an item of a flow list, after the separator. */
  readonly from: number;
  /** The tokens between the indicator and the value: spaces, comments, an anchor, a tag. */
  readonly between: readonly CST.SourceToken[];
  /** Column of the collection. */
  readonly column: number;
  readonly isFlow: boolean;
}

export type SourceItem = CST.CollectionItem;

/** Thrown if the collection has a form whose parts cannot be edited individually. */
export class NotInParts extends Error {}

/** The places of nodes in the text of a document. */
export class SourceText {
  constructor(private readonly text: string) {}

  /** The beginning of the comment lines directly above a part, which belong to it. */
  withComments(start: number, limit: number): number {
    let from = this.lineStart(start);
    const indent = this.text.slice(from, start);
    while (from > limit) {
      const above = this.lineStart(from - 1);
      if (above < limit || !this.text.startsWith(`${indent}#`, above)) break;
      from = above;
    }
    return from;
  }

  /** @returns undefined if the key has no value */
  slotOfPair(map: YAMLMap, { key, value, srcToken }: Pair<Node, Node | null>): Slot | undefined {
    const { sep = [] } = (srcToken ?? {}) as SourceItem;
    const colon = sep.findIndex(({ type }) => type === 'map-value-ind');
    if (colon < 0) return undefined;
    const column = isFlow(map) ? 0 : this.column(startOf(srcToken as SourceItem, key));
    const { offset } = sep[colon]!;
    const between = sep.slice(colon + 1);
    return { value, indicator: 'key', from: offset + 1, between, column, isFlow: isFlow(map) };
  }

  slotsOfItems(list: YAMLSeq): Slot[] {
    const source = sourceItems(list);
    const nodes = list.items as (Node | null)[];
    if (source.length !== nodes.length) throw new NotInParts();
    return nodes.map((value, index) => {
      const { start, key, sep } = source[index]!;
      if (isFlow(list)) {
        const isPlain =
          isScalar(value) || isAlias(value) || (isCollection(value) && value.srcToken !== undefined);
        if (!isPlain || key || sep) throw new NotInParts();
        const [from] = value.range!;
        const between = start.filter(({ type }) => type !== 'comma');
        return { value, indicator: 'dash', from, between, column: 0, isFlow: true };
      }
      const dash = start.findIndex(({ type }) => type === 'seq-item-ind');
      const { offset } = start[dash]!;
      const between = start.slice(dash + 1);
      return {
        value,
        indicator: 'dash',
        from: offset + 1,
        between,
        column: this.column(offset),
        isFlow: false,
      };
    });
  }

  endOfSlot({ value, from, between }: Slot): number {
    if (value && hasText(value)) return this.endOf(value);
    const last = between.filter(({ type }) => type === 'anchor' || type === 'tag').at(-1);
    return last ? last.offset + last.source.length : from;
  }

  endOfPair(pair: Pair<Node, Node | null>): number {
    if (pair.value && hasText(pair.value)) return this.endOf(pair.value);
    const { sep = [] } = pair.srcToken as SourceItem;
    const last = sep
      .filter(({ type }) => type === 'map-value-ind' || type === 'anchor' || type === 'tag')
      .at(-1);
    return last ? last.offset + last.source.length : this.endOf(pair.key);
  }

  /**
   * The end of the content of a node, without comments that follow. The end of a block scalar is after its
   * last line break.
   */
  endOf(node: Node): number {
    const [start, end] = node.range!;
    if (isMap(node) && !isFlow(node)) return this.endOfPair(node.items.at(-1) as Pair<Node, Node | null>);
    if (isSeq(node) && !isFlow(node)) return this.endOfSlot(this.slotsOfItems(node).at(-1)!);
    const { type } = node as Scalar;
    if (!isScalar(node) || !isBlockStyle(type)) return end;
    const source = this.text.slice(start, end);
    const [header] = source.split('\n', 1);
    // Trailing empty lines belong to the text only if the header says so.
    return /^[|>]\d?\+/.test(header!) ? end : start + source.replace(/\n[ \t\r\n]*$/, '\n').length;
  }

  column(offset: number): number {
    return (
      offset -
      this.lineStart(offset) -
      (this.lineStart(offset) === 0 && this.text.startsWith('\ufeff') ? 1 : 0)
    );
  }

  lineStart(offset: number): number {
    return this.text.lastIndexOf('\n', offset - 1) + 1;
  }

  /** The end of the line in which the content ends, including its comment. */
  lineEnd(end: number): number {
    if (this.text[end - 1] === '\n') return end;
    const at = this.text.indexOf('\n', end);
    return at < 0 ? this.text.length : at + 1;
  }
}

/**
 * Whether a collection is in flow style. A pair that is an item of a flow list counts too, since it has no
 * lines of its own.
 */
export const isFlow = ({ srcToken }: Node): boolean =>
  srcToken?.type !== 'block-map' && srcToken?.type !== 'block-seq';

export const isBlockStyle = (style: unknown): boolean =>
  style === Scalar.BLOCK_LITERAL || style === Scalar.BLOCK_FOLDED;

const hasText = ({ range }: Node): boolean => !!range && range[1] > range[0];

export const headerOf = (node: Node | null): readonly CST.SourceToken[] =>
  isScalar(node) && node.srcToken?.type === 'block-scalar' ? (node.srcToken.props as CST.SourceToken[]) : [];

export function sourceItems({ srcToken }: YAMLSeq): SourceItem[] {
  if (srcToken?.type === 'block-seq')
    return srcToken.items.filter(({ start }) => start.some(({ type }) => type === 'seq-item-ind'));
  if (srcToken?.type === 'flow-collection')
    return srcToken.items.filter(({ key, sep, value }) => key || sep || value);
  throw new NotInParts();
}

/** Offset of the first character of a pair or item that is neither a space nor part of a comment. */
export function startOf({ start, key, sep }: SourceItem, node: Node | null): number {
  const isContent = ({ type }: CST.SourceToken) => !['space', 'newline', 'comment', 'comma'].includes(type);
  const first = start.find(isContent) ?? key ?? sep?.find(isContent);
  return first?.offset ?? node!.range![0];
}
