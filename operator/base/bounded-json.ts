/**
 * Keys and values that one text may have. Each takes up to 70 bytes of the heap, even if it has only two
 * bytes in the text.
 */
export const MAX_VALUES = 700_000;
/** Deepest nesting of a text. A hub cannot write one deeper than 254. */
export const MAX_DEPTH = 250;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const MINUS = 0x2d;

/**
 * A text of another program has more values, or deeper nesting, than the operator parses. The message is part
 * of a sentence.
 */
export class TooManyValues extends Error {
  override readonly name = 'TooManyValues';
}

/** A part of a text, in bytes. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/**
 * Called for the parts of the text in order. Depths begin with 1; a closing bracket has the depth of its
 * opening one.
 */
export interface JsonVisitor {
  onOpen(depth: number, at: number, values: number): void;
  onClose(depth: number, at: number, values: number): void;
  onString(range: Range): void;
  onNumber(range: Range): void;
}

/**
 * `JSON.parse` of a text from another program. Keys and values are counted before they are built, because a
 * limit in bytes does not bound the heap that they take.
 *
 * @throws TooManyValues
 * @throws SyntaxError
 */
export function parseBounded(json: Uint8Array, maxValues = MAX_VALUES): unknown {
  countValues(json, maxValues);
  return JSON.parse(Buffer.from(json.buffer, json.byteOffset, json.byteLength).toString('utf8'));
}

/**
 * Counts the keys and values of a text, which need not be valid JSON, in one scan of its bytes. With a
 * visitor, the depth is not limited: the visitor checks it.
 *
 * @throws TooManyValues
 */
export function countValues(json: Uint8Array, maxValues: number, visitor?: JsonVisitor): number {
  let values = 0;
  let depth = 0;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at]!;
    if (byte === QUOTE) {
      const end = endOfString(json, at);
      visitor?.onString({ start: at, end });
      at = end - 1;
    } else if (byte === COMMA || byte === COLON) {
      if (++values > maxValues) throw tooMany(maxValues);
    } else if ((byte | 0x20) === 0x7b) {
      // [ and {
      if (++values > maxValues) throw tooMany(maxValues);
      depth += 1;
      if (visitor) visitor.onOpen(depth, at, values);
      else if (depth > MAX_DEPTH) throw tooDeep();
    } else if ((byte | 0x20) === 0x7d) {
      visitor?.onClose(depth, at, values);
      depth -= 1;
    } else if (visitor && isDigit(byte)) {
      const end = endOfNumber(json, at);
      visitor.onNumber({ start: at > 0 && json[at - 1] === MINUS ? at - 1 : at, end });
      at = end - 1;
    }
  }
  return values;
}

export const tooMany = (maxValues: number) =>
  new TooManyValues(`it has more than ${maxValues} keys and values`);
export const tooDeep = () => new TooManyValues(`it is nested deeper than ${MAX_DEPTH}`);

const isDigit = (byte: number): boolean => byte >= 0x30 && byte <= 0x39;

/** @returns the position after the closing quote, or the end of an incomplete text */
function endOfString(json: Uint8Array, start: number): number {
  for (let at = start + 1; at < json.length; at++) {
    const byte = json[at];
    if (byte === BACKSLASH) at++;
    else if (byte === QUOTE) return at + 1;
  }
  return json.length;
}

/** @returns the position after the last digit, `.`, `e`, `E`, `+` or `-` */
function endOfNumber(json: Uint8Array, start: number): number {
  let at = start + 1;
  for (; at < json.length; at++) {
    const byte = json[at]!;
    if (!isDigit(byte) && byte !== 0x2e && (byte | 0x20) !== 0x65 && byte !== 0x2b && byte !== MINUS) break;
  }
  return at;
}
