import {
  type Alias,
  type Document,
  isAlias,
  isCollection,
  isMap,
  isPair,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  visit,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import { isObject } from '../../operator/base/is-object';
import { numbersOfJson } from '../../operator/offline/manifests';
import { commonItems } from './common-items';
import { type Layout, printAfter, printFlow, printKey } from './print';
import { fingerprint, isSame } from './readings';
import {
  headerOf,
  isBlockStyle,
  isFlow,
  NotInParts,
  type Slot,
  sourceItems,
  type SourceItem,
  SourceText,
  startOf,
} from './source-text';

/** A replacement for a range of a text. */
interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

type Fields = Readonly<Record<string, unknown>>;

/** The part of a value that is replaced. */
export type Manner = 'parts' | 'fields' | 'whole';

/**
 * Changes values of a document by replacing ranges of its text, so that everything else is unchanged, byte
 * for byte. The text ends with a line break.
 */
export class Editor {
  private readonly edits: Edit[] = [];
  /** Nodes whose value changes or that are removed. */
  private readonly touched = new Set<Node>();
  private readonly source: SourceText;

  /** @param lineBreak line break of the text */
  constructor(
    private readonly text: string,
    private readonly document: Document.Parsed,
    private readonly layout: Layout,
    private readonly lineBreak: string,
  ) {
    this.source = new SourceText(text);
  }

  /**
   * Changes a value of a map. `parts` replaces only the parts of the value that differ, `fields` its fields
   * that differ, and `whole` all of it.
   *
   * @throws NotWritable
   */
  change(map: YAMLMap, name: string, value: unknown, manner: Manner): void {
    const pair = (map.items as Pair<Node, Node | null>[]).find((each) => nameOf(each) === name);
    const slot = pair && this.source.slotOfPair(map, pair);
    if (!slot) throw new NotInParts();
    if (manner === 'whole') this.replace(slot, value);
    else this.changeSlot(slot, value, manner === 'parts' ? Infinity : 1);
  }

  /**
   * Replaces aliases by their values if their anchors are in changed values: otherwise the aliases would
   * change too.
   *
   * @returns undefined if there are no such aliases
   */
  withoutAliases(): string | undefined {
    const affected = new Set<Alias>();
    visit(this.document, {
      Alias: (_, alias) => {
        const source = alias.resolve(this.document);
        if (source && this.touched.has(source) && !this.touched.has(alias)) affected.add(alias);
      },
    });
    if (affected.size === 0) return undefined;
    const writer = new Editor(this.text, this.document, this.layout, this.lineBreak);
    writer.writeOut(this.document.contents, affected);
    if (affected.size > 0) throw new NotInParts();
    return writer.result();
  }

  result(): string {
    const ordered = this.edits
      .map((edit, index) => ({ ...edit, index }))
      .sort((a, b) => a.start - b.start || a.index - b.index);
    let result = '';
    let at = 0;
    for (const { start, end, text } of ordered) {
      if (start < at) throw new NotInParts();
      result += this.text.slice(at, start) + text.replaceAll('\n', this.lineBreak);
      at = end;
    }
    return result + this.text.slice(at);
  }

  private writeOut(node: Node | null, affected: Set<Alias>): void {
    if (!isCollection(node)) return;
    const slots = isMap(node)
      ? (node.items as Pair<Node, Node | null>[]).map((pair) => this.source.slotOfPair(node, pair))
      : this.source.slotsOfItems(node);
    for (const slot of slots) {
      if (!slot) continue;
      if (isAlias(slot.value) && affected.delete(slot.value)) this.replace(slot, this.valueOf(slot.value));
      else this.writeOut(slot.value, affected);
    }
  }

  private valueOf(node: Node | null): unknown {
    return node ? node.toJS(this.document, { reviver: numbersOfJson }) : null;
  }

  /** @param depth number of nested collections that are changed part by part */
  private changeSlot(slot: Slot, value: unknown, depth: number): void {
    const { value: node } = slot;
    if (node && isSame(this.valueOf(node), value)) return;
    const [edits, touched] = [this.edits.length, [...this.touched]];
    if (depth === 0) return this.replace(slot, value);
    try {
      if (node) this.touched.add(node);
      if (isMap(node) && isObject(value)) return void this.changePairs(node, value, depth - 1);
      if (isSeq(node) && Array.isArray(value)) return void this.changeItems(node, value, depth - 1);
    } catch (error) {
      if (!(error instanceof NotInParts)) throw error;
      this.edits.length = edits;
      this.touched.clear();
      touched.forEach((each) => this.touched.add(each));
    }
    this.replace(slot, value);
  }

  private changePairs(map: YAMLMap, value: Fields, depth: number): void {
    const pairs = map.items as Pair<Node, Node | null>[];
    const isMerged = pairs.some(({ key }) => isMerge(key));
    if (!pairs.every(({ key }) => isScalar(key))) throw new NotInParts();
    const own = new Map(pairs.filter(({ key }) => !isMerge(key)).map((pair) => [nameOf(pair), pair]));
    const names = Object.keys(value).filter((name) => value[name] !== undefined);
    const removed = [...own].filter(([name]) => !names.includes(name)).map(([, pair]) => pair);
    const merged = isMerged ? (this.valueOf(map) as Fields) : {};
    // If such a pair were removed, the value from the merge would appear instead.
    if (Object.keys(merged).some((name) => !names.includes(name))) throw new NotInParts();
    if (removed.length === pairs.length) throw new NotInParts();
    for (const name of names) {
      const pair = own.get(name);
      if (!pair) continue;
      const slot = this.source.slotOfPair(map, pair);
      if (!slot) {
        if (!isSame(null, value[name])) throw new NotInParts();
      } else this.changeSlot(slot, value[name], depth);
    }
    const added = names.filter(
      (name) => !own.has(name) && !(name in merged && isSame(merged[name], value[name])),
    );
    this.replacePairs(map, removed, Object.fromEntries(added.map((name) => [name, value[name]])));
  }

  /** Removes pairs of a map, and adds others behind the remaining ones. */
  private replacePairs(map: YAMLMap, removed: readonly Pair[], added: Fields): void {
    const pairs = map.items as Pair<Node, Node | null>[];
    const parts = pairs.map((pair) => ({
      start: startOf(pair.srcToken as SourceItem, pair.key),
      end: this.source.endOfPair(pair),
      isRemoved: removed.includes(pair),
      nodes: [pair.key, pair.value],
    }));
    if (isFlow(map)) {
      const printed = Object.entries(added).map(
        ([name, value]) => `${printKey(name, this.layout)}: ${printFlow(value, this.layout)}`,
      );
      this.addToFlow(parts, printed);
      this.removeFromFlow(parts);
      return;
    }
    this.removeFromBlock(parts);
    const column = this.source.column(parts[0]!.start);
    for (const [name, value] of Object.entries(added))
      this.insertLine(
        parts.at(-1)!.end,
        column,
        `${printKey(name, this.layout)}:${printAfter('key', value, column, this.layout)}`,
      );
  }

  /**
   * Changes the items of a list. Items that exist already keep their text; items between them are changed in
   * order.
   */
  private changeItems(list: YAMLSeq, value: readonly unknown[], depth: number): void {
    const slots = this.source.slotsOfItems(list);
    if (slots.length === 0 || value.length === 0) throw new NotInParts();
    const source = sourceItems(list);
    const parts = slots.map((slot, index) => ({
      start: isFlow(list) ? startOf(source[index]!, slot.value) : slot.from - 1,
      end: this.source.endOfSlot(slot),
      isRemoved: false,
      nodes: [slot.value],
    }));
    const values = slots.map((slot) => this.valueOf(slot.value));
    const column = isFlow(list) ? 0 : this.source.column(parts[0]!.start);
    const printed = (item: unknown) =>
      isFlow(list) ? printFlow(item, this.layout) : `-${printAfter('dash', item, column, this.layout)}`;
    let [from, to] = [0, 0];
    for (const [oldEnd, newEnd] of [
      ...commonItems(values.map(fingerprint), value.map(fingerprint)),
      [slots.length, value.length] as const,
    ]) {
      for (; from < oldEnd && to < newEnd; from += 1, to += 1)
        this.changeSlot(slots[from]!, value[to], depth);
      for (; from < oldEnd; from += 1) parts[from]!.isRemoved = true;
      const added = value.slice(to, newEnd).map(printed);
      if (from > 0) this.addItems(list, parts.slice(0, from), column, added);
      else if (added.length > 0) {
        const separator = isFlow(list) ? ', ' : `\n${' '.repeat(column)}`;
        const [{ start }] = parts as [(typeof parts)[number]];
        this.edits.push({ start, end: start, text: added.map((each) => each + separator).join('') });
      }
      from = oldEnd + 1;
      to = newEnd + 1;
    }
    if (isFlow(list)) this.removeFromFlow(parts);
    else this.removeFromBlock(parts);
  }

  private addItems(list: YAMLSeq, before: readonly Part[], column: number, added: readonly string[]): void {
    if (isFlow(list)) this.addToFlow(before, added);
    else for (const each of added) this.insertLine(before.at(-1)!.end, column, each);
  }

  private addToFlow(parts: readonly Part[], added: readonly string[]): void {
    const last = parts.filter(({ isRemoved }) => !isRemoved).at(-1);
    if (added.length === 0) return;
    if (!last) throw new NotInParts();
    this.edits.push({ start: last.end, end: last.end, text: added.map((each) => `, ${each}`).join('') });
  }

  private removeFromFlow(parts: readonly Part[]): void {
    const last = parts.findLastIndex(({ isRemoved }) => !isRemoved);
    if (last < 0) throw new NotInParts();
    parts.forEach(({ isRemoved, start, nodes }, index) => {
      if (!isRemoved) return;
      this.forget(nodes);
      if (index < last) this.edits.push({ start, end: parts[index + 1]!.start, text: '' });
    });
    if (last < parts.length - 1)
      this.edits.push({ start: parts[last]!.end, end: parts.at(-1)!.end, text: '' });
  }

  private removeFromBlock(parts: readonly Part[]): void {
    const kept = parts.findIndex(({ isRemoved }) => !isRemoved);
    if (kept < 0) throw new NotInParts();
    const [{ start: first }] = parts as [Part];
    const isInline = kept > 0 && this.text.slice(this.source.lineStart(first), first).trim() !== '';
    // The first part follows the indicator of its parent, which is kept.
    if (isInline) {
      const between = this.text.slice(this.source.lineEnd(parts[kept - 1]!.end), parts[kept]!.start);
      // Comments of the part that becomes the first one are kept.
      const end = parts[kept]!.start - between.trimStart().length;
      this.edits.push({ start: first, end, text: '' });
    }
    parts.forEach(({ isRemoved, start, end, nodes }, index) => {
      if (!isRemoved) return;
      this.forget(nodes);
      if (isInline && index < kept) return;
      const former = parts[index - 1];
      const from = former
        ? this.source.withComments(start, this.source.lineEnd(former.end))
        : this.source.lineStart(start);
      this.edits.push({ start: from, end: this.source.lineEnd(end), text: '' });
    });
  }

  private insertLine(after: number, column: number, line: string): void {
    const at = this.source.lineEnd(after);
    this.edits.push({ start: at, end: at, text: `${' '.repeat(column)}${line}\n` });
  }

  private forget(nodes: readonly (Node | null)[]): void {
    for (const node of nodes)
      if (node)
        visit(node, (_, part) => {
          if (!isPair(part)) this.touched.add(part as Node);
        });
  }

  private replace(slot: Slot, value: unknown): void {
    const { value: node, indicator, from, between, column } = slot;
    this.forget([node]);
    const style = isScalar(node) ? node.type : undefined;
    const printed = slot.isFlow
      ? ` ${printFlow(value, this.layout, isBlockStyle(style) ? undefined : style)}`
      : printAfter(indicator, value, column, this.layout, style);
    const properties = between.find(({ type }) => type === 'anchor' || type === 'tag');
    const end = this.source.endOfSlot(slot);
    const isInLine = !(isCollection(node) && !isFlow(node)) && !isBlockStyle(style);
    if (isInLine && !printed.includes('\n') && (node?.srcToken || properties || slot.isFlow)) {
      const start = properties?.offset ?? node?.range?.[0] ?? end;
      const isGlued = start === from && !(slot.isFlow && indicator === 'dash');
      this.edits.push({ start, end, text: isGlued ? printed : printed.slice(1) });
      return;
    }
    if (slot.isFlow) throw new NotInParts();
    const behind = isInLine ? /^[ \t]+#[^\r\n]*/.exec(this.text.slice(end)) : null;
    const [beside, ...below] = [...between, ...headerOf(node)]
      .filter(({ type }) => type === 'comment')
      .map(({ source }) => source)
      .concat(behind ? [behind[0].trim()] : []);
    const [first, ...rest] = printed.split('\n');
    const head = `${first}${beside === undefined ? '' : ` ${beside}`}`;
    const inner = below.map((each) => `${' '.repeat(column + this.layout.step)}${each}`);
    const isBlockCollection = first === '' && rest.length > 0;
    const lines = isBlockCollection ? [head, ...inner, ...rest] : [head, ...rest, ...inner];
    const ending = this.text[end - 1] === '\n' ? '\n' : '';
    this.edits.push({ start: from, end: end + (behind?.[0].length ?? 0), text: lines.join('\n') + ending });
  }
}

/** A pair or item of a collection. Its content lies between `start` and `end`. */
interface Part {
  readonly start: number;
  readonly end: number;
  readonly isRemoved: boolean;
  readonly nodes: readonly (Node | null)[];
}

const isMerge = (key: Node): boolean => isScalar(key) && typeof key.value === 'symbol';

const nameOf = ({ key }: Pair<Node, Node | null>): string => String(isScalar(key) ? key.value : key);
