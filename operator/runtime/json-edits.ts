import { type JsonVisitor, MAX_DEPTH, type Range, tooDeep } from '../base/bounded-json';

/** Fewest bytes of a number that may lose digits: a shorter one without an exponent is less than 2^53. */
const SHORTEST_UNSAFE = 16;
/** Most bytes of a number that is checked. The API server writes at most 24. */
const LONGEST_UNSAFE = 400;

const OPENING_BRACE = 0x7b;
const LETTER_E = 0x65;

interface EditOptions {
  /** Nesting depth at which the Kubernetes objects begin in the text. 1 if the text is one object. */
  readonly objectDepth: number;
  /** If an object has more keys and values than this, its large parts are left out. */
  readonly maxObjectValues: number;
  /** A part with more keys and values than this is large. */
  readonly maxPartValues: number;
  /** Prefix of a string that replaces an integer beyond 2^53. */
  readonly mark: string;
}

interface Cut extends Range {
  readonly text: string;
}

interface Part extends Range {
  /** Path of the part, such as `spec.actions`. */
  readonly name: string;
  readonly values: number;
}

/** Collects, in one scan, the changes that a text needs before it can be parsed. */
export class JsonEdits implements JsonVisitor {
  /** Number of keys and values that are left out. */
  omittedValues = 0;
  private readonly cuts: Cut[] = [];
  /**
   * Start and end of each integer beyond 2^53, as a flat list of numbers: one object per integer would take
   * the memory that leaving parts out saves.
   */
  private unsafe: number[] = [];
  /** The last string, which is the key if a container opens next in an object. */
  private last: Range = { start: 0, end: 0 };
  /** The key of the current section: `spec`, `metadata` or `status`. */
  private section = this.last;
  private object = { start: 0, values: 0, isObject: false };
  private part = { start: 0, values: 0, key: this.last, isTooDeep: false };
  /** The large parts of the current object. */
  private large: Part[] = [];
  private hasDeepPart = false;
  private readonly openingQuote: Buffer;

  constructor(
    private readonly json: Buffer,
    private readonly options: EditOptions,
  ) {
    this.openingQuote = Buffer.from(`"${options.mark}`);
  }

  onString(range: Range): void {
    this.last = range;
  }

  /** @throws TooManyValues the nesting is too deep, and not within a part that can be left out */
  onOpen(depth: number, at: number, values: number): void {
    const level = depth - this.options.objectDepth;
    if (level === 0) {
      this.object = { start: at, values, isObject: this.json[at] === OPENING_BRACE };
      this.large = [];
      this.hasDeepPart = false;
    } else if (level === 1) this.section = this.last;
    else if (level === 2) this.part = { start: at, values, key: this.last, isTooDeep: false };
    if (depth <= MAX_DEPTH) return;
    if (level < 2 || !this.object.isObject) throw tooDeep();
    this.part.isTooDeep = this.hasDeepPart = true;
  }

  onClose(depth: number, at: number, total: number): void {
    const { maxObjectValues, maxPartValues, objectDepth } = this.options;
    const level = depth - objectDepth;
    if (level === 2) {
      const { isTooDeep, key, start } = this.part;
      const values = total - this.part.values;
      const name = `${this.content(this.section)}.${this.content(key)}`;
      if (values > maxPartValues || isTooDeep) this.large.push({ start, end: at + 1, name, values });
    } else if (level === 0 && this.object.isObject && this.large.length > 0) {
      if (this.hasDeepPart || total - this.object.values > maxObjectValues) this.omitLargeParts();
    }
  }

  onNumber({ start, end }: Range): void {
    const length = end - start;
    if (length > LONGEST_UNSAFE) return;
    if (length < SHORTEST_UNSAFE && !this.hasExponent(start, end)) return;
    const value = Number(this.json.toString('latin1', start, end));
    if (Number.isInteger(value) && !Number.isSafeInteger(value)) this.unsafe.push(start, end);
  }

  private hasExponent(start: number, end: number): boolean {
    for (let at = start; at < end; at++) if (this.json[at] === LETTER_E) return true;
    return false;
  }

  /** @returns the text with the changes */
  apply(): Buffer {
    const { cuts, json, openingQuote, unsafe } = this;
    if (cuts.length + unsafe.length === 0) return json;
    const added = cuts.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
    const out = Buffer.allocUnsafe(json.length + added + (unsafe.length / 2) * (openingQuote.length + 1));
    let read = 0;
    let written = 0;
    const copyUntil = (end: number) => {
      written += json.copy(out, written, read, end);
      read = end;
    };
    let next = 0;
    const cutUntil = (end: number) => {
      for (; next < cuts.length && cuts[next]!.start < end; next++) {
        copyUntil(cuts[next]!.start);
        written += out.write(cuts[next]!.text, written);
        read = cuts[next]!.end;
      }
    };
    for (let index = 0; index < unsafe.length; index += 2) {
      cutUntil(unsafe[index]!);
      copyUntil(unsafe[index]!);
      written += openingQuote.copy(out, written);
      copyUntil(unsafe[index + 1]!);
      written += out.write('"', written);
    }
    cutUntil(Infinity);
    copyUntil(json.length);
    return out.subarray(0, written);
  }

  private omitLargeParts(): void {
    const start = this.object.start + 1;
    const names = this.large.map(({ name }) => `"${name}"`).join(',');
    this.cuts.push({ start, end: start, text: `"omitted":[${names}],` });
    for (const { start: open, end, values } of this.large) {
      const brackets =
        this.json.toString('latin1', open, open + 1) + this.json.toString('latin1', end - 1, end);
      this.cuts.push({ start: open, end, text: brackets });
      this.omittedValues += values;
    }
    const isKept = (at: number) => !this.large.some((part) => at >= part.start && at < part.end);
    this.unsafe = this.unsafe.filter((_, index) => isKept(this.unsafe[index - (index % 2)]!));
  }

  /** The content of a string as it is in the text: without quotes, escapes not decoded. */
  private content({ start, end }: Range): string {
    return this.json.toString('utf8', start + 1, end - 1);
  }
}
