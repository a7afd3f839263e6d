import { type Document, isMap, isSeq, type Node, Scalar, visit, type YAMLMap } from 'yaml';
import { isObject } from '../../operator/base/is-object';
import { numbersOfJson } from '../../operator/offline/manifests';
import { Editor, type Manner } from './edit';
import { NotInParts } from './source-text';
import { DEFAULT_LAYOUT, type Layout, NotWritable } from './print';
import { asKubectl, isSame, plain, readingsOf } from './readings';

/**
 * The place of an object in a text: the index of its document and, if the document is a list, the index in
 * that.
 */
export interface Place {
  readonly document: number;
  readonly item?: number;
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * Ways to change a text, from the smallest change to the largest. The first one with a correct result is
 * used.
 */
const MANNERS: readonly Manner[] = ['parts', 'fields', 'whole'];

/**
 * The text with new values for fields of the spec of one of its objects; a field that is undefined is
 * removed. Everything else is unchanged, byte for byte. The result is verified by reading it: all other
 * values are the same for kubectl and for readers of YAML 1.2 (rules.md, "Files of people").
 *
 * @throws NotWritable
 */
export function withSpecFields(text: string, place: Place, fields: Fields): string {
  const lineBreak = /[^\r]\n/.test(text) || !text.includes('\n') ? '\n' : '\r\n';
  const isOpen = !text.endsWith('\n');
  const isOpenBlock = isOpen && endsInBlock(text);
  for (const manner of MANNERS) {
    try {
      const result = edited(isOpen ? text + lineBreak : text, place, fields, manner, lineBreak);
      const isCut = isOpen && (isOpenBlock || !endsInBlock(result));
      const ended = isCut ? result.slice(0, -lineBreak.length) : result;
      if (isOpenBlock && !ended.endsWith(text.slice(text.lastIndexOf('\n'))))
        throw new NotWritable('its last line has no line break at its end: add one');
      if (isExpected(text, ended, place, fields)) return ended;
    } catch (error) {
      if (!(error instanceof NotInParts)) throw error;
    }
  }
  throw new NotWritable(
    `${Object.keys(fields).join(' and ')} cannot be changed without changing something else: write the anchors and aliases of the file out, or change it by hand`,
  );
}

function edited(text: string, place: Place, fields: Fields, manner: Manner, lineBreak: string): string {
  const document = asKubectl(text)[place.document]!;
  const map = objectAt(document, place)!;
  const values = withFields(
    (map.toJS(document, { reviver: numbersOfJson }) as { spec: Fields }).spec,
    fields,
  );
  const editor = new Editor(text, document, layoutOf(text, document), lineBreak);
  editor.change(map, 'spec', values, manner);
  const withoutAliases = editor.withoutAliases();
  return withoutAliases === undefined
    ? editor.result()
    : edited(withoutAliases, place, fields, manner, lineBreak);
}

function objectAt({ contents }: Document, { item }: Place): YAMLMap | undefined {
  const items: unknown = item !== undefined && isMap(contents) ? contents.get('items', true) : undefined;
  const object: unknown = item === undefined ? contents : isSeq(items) ? items.items[item] : undefined;
  return isMap(object) ? object : undefined;
}

const withFields = (spec: Fields, fields: Fields): Fields =>
  Object.fromEntries(Object.entries({ ...spec, ...fields }).filter(([, value]) => value !== undefined));

/** Whether the new text has the expected fields and is otherwise equal, for each kind of reader. */
function isExpected(before: string, after: string, place: Place, fields: Fields): boolean {
  const [old, fresh] = [readingsOf(before), readingsOf(after)];
  if (old.length !== fresh.length) return false;
  return old.every(({ kubectl, yaml12 }, index) => {
    const now = fresh[index]!;
    if (index !== place.document) return isSame(kubectl, now.kubectl) && isSame(yaml12, now.yaml12);
    const expected = withSpec(kubectl, place, (spec) => withFields(spec, fields));
    if (!isSame(now.kubectl, expected)) return false;
    if (yaml12 === undefined) return true;
    if (isSame(yaml12, kubectl)) return isSame(now.yaml12, expected);
    // Unquoted words that YAML 1.1 and 1.2 read differently were in the text before.
    const others = (reading: unknown) =>
      withSpec(reading, place, (spec) => withFields(spec, without(fields)));
    return now.yaml12 !== undefined && isSame(others(now.yaml12), others(yaml12));
  });
}

const without = (fields: Fields): Fields =>
  Object.fromEntries(Object.keys(fields).map((name) => [name, undefined]));

function withSpec(reading: unknown, { item }: Place, change: (spec: Fields) => Fields): unknown {
  const copy = plain(reading) as { items: unknown[] };
  const object = item === undefined ? copy : copy.items[item];
  if (isObject(object) && isObject(object['spec'])) Object.assign(object, { spec: change(object['spec']) });
  return copy;
}

/**
 * Whether the text ends in a block scalar. If a line break is added to the end of such a file, Go's reader
 * includes it in the value, unlike the two readers that verify the result.
 */
function endsInBlock(text: string): boolean {
  let isLast = false;
  for (const document of asKubectl(text))
    visit(document, {
      Scalar: (_, { type, range }) => {
        if (type === Scalar.BLOCK_LITERAL || type === Scalar.BLOCK_FOLDED)
          isLast ||= range?.[1] === text.length;
      },
    });
  return isLast;
}

/** The layout that the user has given to the document. */
function layoutOf(text: string, document: Document): Layout {
  const columnOf = (offset: number) => offset - text.lastIndexOf('\n', offset - 1) - 1;
  let step: number | undefined;
  let isListIndented: boolean | undefined;
  let single = 0;
  visit(document, {
    Pair: (_, { key, value }) => {
      const [outer, inner] = [key, value].map((node) => (node as Node | null)?.range?.[0]);
      const type = (value as Node | null)?.srcToken?.type;
      if (outer === undefined || inner === undefined) return;
      if (type === 'block-map') step ??= columnOf(inner) - columnOf(outer);
      if (type === 'block-seq') isListIndented ??= columnOf(inner) > columnOf(outer);
    },
    Scalar: (_, { type }) => {
      if (type === Scalar.QUOTE_SINGLE) single += 1;
      if (type === Scalar.QUOTE_DOUBLE) single -= 1;
    },
  });
  return {
    step: step !== undefined && step > 0 ? step : DEFAULT_LAYOUT.step,
    isListIndented: isListIndented ?? DEFAULT_LAYOUT.isListIndented,
    quote: single > 0 ? Scalar.QUOTE_SINGLE : Scalar.QUOTE_DOUBLE,
    isJson: /^\ufeff?\s*[{[]/.test(text),
  };
}
