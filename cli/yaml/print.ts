import { Scalar } from 'yaml';
import { isObject } from '../../operator/base/is-object';

/** A value that YAML cannot express. The message is a sentence without the place of the value. */
export class NotWritable extends Error {
  override readonly name = 'NotWritable';
}

/** The layout of the values that are written into a text. */
export interface Layout {
  /** Number of columns by which a nested map is indented. */
  readonly step: number;
  /** Whether a list within a map is indented too. */
  readonly isListIndented: boolean;
  readonly quote: typeof Scalar.QUOTE_DOUBLE | typeof Scalar.QUOTE_SINGLE;
  /** Whether the text is JSON. */
  readonly isJson: boolean;
}

export const DEFAULT_LAYOUT: Layout = {
  step: 2,
  isListIndented: true,
  quote: Scalar.QUOTE_DOUBLE,
  isJson: false,
};

/** The token that precedes a value: `key:`, or the `-` of an item. */
export type Indicator = 'key' | 'dash';

/**
 * Texts that need no quotes, because every version of YAML reads them as strings; unlike `on`, `1:30` and
 * `0o7`.
 */
const PLAIN = /^[A-Za-z_][\w./-]*(:[\w./-]+)?( [\w./()-]+)*$/;
/**
 * Texts that may stay unquoted if they are unquoted already. More characters are allowed than for a new text.
 */
const STILL_PLAIN = /^[\p{L}_](?!.*(: |:$| #| $))[^,[\]{}]*$/u;
// Words that some readers do not take for strings, such as booleans. Some take `e5` for a number without a
// mantissa.
const RESERVED = /^(y|n|yes|no|on|off|true|false|null|nan|inf|infinity|e\d+)$/i;
/**
 * Characters that a YAML reader refuses, takes for a line break, or does not show: they are escaped in double
 * quotes. Go's reader, which kubectl uses, refuses control characters up to U+009F, and breaks lines at
 * U+0085, U+2028 and U+2029.
 */
const ESCAPED = /[^\x20-\x7e\u00a1-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\u{10000}-\u{10ffff}]/u;
/**
 * Texts that cannot be a block scalar: with spaces at the end of lines, which editors remove, or at the
 * beginning, which would be read as indentation.
 */
const NOT_IN_BLOCK = /^\s|[ \t](\n|$)|\n\n$|^$/;
/** Most characters of a key: readers search for the end of a key within 1,024 characters only. */
const LONGEST_KEY = 1_000;

/** The YAML for a JSON object, with a line break at its end. @throws NotWritable */
export const printDocument = (value: object): string => `${block(value, 0, DEFAULT_LAYOUT)}\n`;

/**
 * A value with the separator from its indicator, and without a line break at its end.
 *
 * @param column column of the map with the key, or of the list with the item
 * @param style style of the text that is replaced
 * @throws NotWritable
 */
export function printAfter(
  indicator: Indicator,
  value: unknown,
  column: number,
  layout: Layout,
  style?: Scalar.Type | null,
): string {
  if (isBlock(value)) {
    if (indicator === 'dash') return ` ${block(value, column + 2, layout)}`;
    const inner = column + (Array.isArray(value) && !layout.isListIndented ? 0 : layout.step);
    return `\n${' '.repeat(inner)}${block(value, inner, layout)}`;
  }
  const written =
    typeof value === 'string' && blockText(value, ' '.repeat(column + layout.step), layout, style);
  return ` ${written || printFlow(value, layout, style)}`;
}

/** A value on one line. @throws NotWritable */
export function printFlow(value: unknown, layout: Layout, style?: Scalar.Type | null): string {
  if (Array.isArray(value)) return `[${value.map((item) => printFlow(item, layout)).join(', ')}]`;
  if (isObject(value)) {
    const pairs = entriesOf(value).map(
      ([key, part]) => `${printKey(key, layout)}: ${printFlow(part, layout)}`,
    );
    return pairs.length === 0 ? '{}' : `{ ${pairs.join(', ')} }`;
  }
  if (typeof value === 'string') return flowText(value, layout, style);
  if (value !== null && typeof value !== 'boolean' && !Number.isFinite(value))
    throw new NotWritable('it has a number that JSON does not have');
  return JSON.stringify(value);
}

/** @throws NotWritable */
export function printKey(key: string, layout: Layout): string {
  const written = flowText(key, layout);
  if (written.length > LONGEST_KEY)
    throw new NotWritable(`a key has more than ${LONGEST_KEY} characters: shorten it`);
  return written;
}

const isBlock = (value: unknown): value is object =>
  Array.isArray(value) ? value.length > 0 : isObject(value) && entriesOf(value).length > 0;

const entriesOf = (value: object): [string, unknown][] =>
  Object.entries(value).filter(([, part]) => part !== undefined);

/** A collection in block style. The first line is not indented. */
function block(value: object, column: number, layout: Layout): string {
  const lines = Array.isArray(value)
    ? value.map((item) => `-${printAfter('dash', item, column, layout)}`)
    : entriesOf(value).map(
        ([key, part]) => `${printKey(key, layout)}:${printAfter('key', part, column, layout)}`,
      );
  return lines.length > 0 ? lines.join(`\n${' '.repeat(column)}`) : printFlow(value, layout);
}

/** A text as a block scalar; undefined if it would be read differently, or another style is required. */
function blockText(
  text: string,
  indent: string,
  { isJson }: Layout,
  style: Scalar.Type | null | undefined,
): string | undefined {
  const lines = text.replace(/\n$/, '').split('\n');
  const wasBlock = style === Scalar.BLOCK_LITERAL || style === Scalar.BLOCK_FOLDED;
  const isQuoted = style === Scalar.QUOTE_DOUBLE || style === Scalar.QUOTE_SINGLE;
  if (isJson || isQuoted || (!wasBlock && !text.includes('\n'))) return undefined;
  if (NOT_IN_BLOCK.test(text) || lines.some((line) => ESCAPED.test(line))) return undefined;
  // A line that begins with a space is not folded.
  const isFolded = style === Scalar.BLOCK_FOLDED && !lines.some((line) => /^\s/.test(line));
  const written = lines.map((line) => (line === '' ? '' : `${indent}${line}`));
  const end = text.endsWith('\n') ? '' : '-';
  return isFolded ? `>${end}\n${written.join('\n\n')}` : `|${end}\n${written.join('\n')}`;
}

function flowText(text: string, { quote, isJson }: Layout, style?: Scalar.Type | null): string {
  if (/\p{Cs}/u.test(text))
    throw new NotWritable('a text has half of a character, a surrogate of UTF-16: correct it in the hub');
  if (isJson) return doubleQuoted(text, true);
  const isRaw = !ESCAPED.test(text);
  const wasQuoted = style === Scalar.QUOTE_DOUBLE || style === Scalar.QUOTE_SINGLE;
  const plain = style === Scalar.PLAIN ? STILL_PLAIN : PLAIN;
  if (!wasQuoted && isRaw && plain.test(text) && !RESERVED.test(text)) return text;
  const isSingle = (wasQuoted ? style : quote) === Scalar.QUOTE_SINGLE;
  return isSingle && isRaw ? `'${text.replaceAll("'", "''")}'` : doubleQuoted(text, false);
}

const LETTERS: ReadonlyMap<string, string> = new Map([
  ['"', '\\"'],
  ['\\', '\\\\'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
]);

/** A text in double quotes, on one line regardless of its length. */
function doubleQuoted(text: string, isJson: boolean): string {
  let quoted = '';
  for (const character of text)
    quoted += LETTERS.get(character) ?? (ESCAPED.test(character) ? escaped(character, isJson) : character);
  return `"${quoted}"`;
}

function escaped(character: string, isJson: boolean): string {
  const code = character.codePointAt(0)!;
  return code < 0x100 && !isJson ? `\\x${hex(code, 2)}` : `\\u${hex(code, 4)}`;
}

const hex = (code: number, digits: number): string => code.toString(16).toUpperCase().padStart(digits, '0');
