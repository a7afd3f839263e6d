import { HashSet, TextHashes } from './text-hashes';

const { clz32, imul, max, min } = Math;

// Characters. Shorter values ("on", "1", "yes") occur in many texts: masking them would make texts
// unreadable, and the masked places would reveal the value.
const MIN_SECRET_LENGTH = 4;

const PASSWORD_IN_URL = /^[\w+.-]+:\/\/[^/?#\s:@]*:([^/?#\s@]+)@/;

/**
 * Ellipses that programs put where they have truncated a text: the characters before one may be the beginning
 * of a secret.
 */
const CUT = /…|\.\.\./g;

/**
 * Limit for the lengths that are tried: this many for each character of a text, but at least LEAST_TRIES in
 * total. Random texts and values need less than one per character.
 */
const MOST_TRIES = 20;
const LEAST_TRIES = 1_000_000;

/** A text that all four forms write unchanged. */
const PLAIN = /^[\w.*-]*$/;

/** A range of a text: `[from, to)`. */
type Place = readonly [from: number, to: number];

/**
 * The forms in which texts may quote secrets. A secret is each value, each line of a value with several
 * lines, and the password in a URL. Each is recognized as written, JSON-escaped, URL-encoded and
 * form-encoded. Forms of fewer than four characters are ignored.
 *
 * Only hashes of 63 bits are stored, several for each form, so that no copy of a long value is kept. A text
 * that has the hash of a secret by chance is masked too. Adding forms takes linear time, and their number is
 * not limited.
 */
export class SecretForms {
  /** The hashes of whole forms. */
  private readonly whole = new HashSet();
  /** The hashes of the first 4, 8, 16, … characters of forms. */
  private readonly beginnings = new HashSet();
  private readonly starts = new Starts();
  /** The lengths of all forms, by the largest power of two that is not greater than the length. */
  private readonly lengths = new Map<number, Lengths>();

  private longest = 0;

  constructor(values: Iterable<string> = []) {
    for (const value of values) this.add(value);
  }

  /** Memory of the hashes, in bytes. */
  get size(): number {
    return this.whole.size + this.beginnings.size;
  }

  add(value: string): void {
    for (const part of partsOf(value)) for (const form of writtenForms(part)) this.addForm(form);
  }

  /**
   * The places where a text quotes a secret, in order and without overlap. If too many beginnings of secrets
   * overlap, the whole text is one place.
   */
  placesIn(text: string): readonly Place[] {
    const candidates = this.starts.placesIn(text);
    if (candidates.length === 0) return [];
    const hashes = new TextHashes(text);
    const cuts = nextCuts(text);
    const places: Place[] = [];
    let covered = 0;
    let tries = max(LEAST_TRIES, MOST_TRIES * text.length);
    for (const at of candidates) {
      // A form that ends within the previous place adds nothing.
      const shortest = max(MIN_SECRET_LENGTH, covered - at + 1);
      if (at + shortest > text.length) break;
      const first = 1 << (31 - clz32(shortest)); // the largest power of two that is not greater
      const common = this.commonBeginning(hashes, first, at, text.length);
      if (common === 0) continue;
      const cut = cuts?.[at + common] ?? Infinity;
      const isCut = cut < at + min(2 * common, this.longest);
      let end = max(covered, isCut ? cut : 0);
      for (let power = common; power >= first && end < at + 2 * power; power /= 2) {
        for (const length of this.lengths.get(power)?.descending ?? []) {
          if (at + length <= end) break;
          if (--tries < 0) return [[0, text.length]];
          if (at + length <= text.length && hashes.isIn(this.whole, at, at + length)) end = at + length;
        }
      }
      if (end <= max(at, covered)) continue;
      join(places, at, end);
      covered = end;
    }
    return places;
  }

  /**
   * How many characters from `at` are known to be the beginning of a form, in steps of `first` and its
   * doubles. A form that begins at `at` is shorter than twice the result. A result of 0 means that no form of
   * at least `first` characters begins there.
   */
  private commonBeginning(hashes: TextHashes, first: number, at: number, end: number): number {
    let common = 0;
    for (let next = first; at + next <= end; next *= 2) {
      if (!hashes.isIn(this.beginnings, at, at + next)) break;
      common = next;
    }
    return common;
  }

  private addForm(form: string): void {
    if (form.length < MIN_SECRET_LENGTH) return;
    this.starts.add(form);
    this.longest = max(this.longest, form.length);
    const power = this.whole.addText(form, this.beginnings, MIN_SECRET_LENGTH);
    const lengths = this.lengths.get(power) ?? new Lengths();
    this.lengths.set(power, lengths);
    lengths.add(form.length);
  }
}

/** A quick check of the first four characters of forms, which most texts do not contain. */
class Starts {
  /** One bit per slot. Undefined until a form is added: most resources have no secret. */
  private known: Uint8Array | undefined;

  add(form: string): void {
    const slot = slotAt(form, 0);
    this.known ??= new Uint8Array(2 ** 10);
    this.known[slot >> 3]! |= 1 << (slot & 7);
  }

  /** The places where a form may begin. */
  placesIn(text: string): readonly number[] {
    const { known } = this;
    const places: number[] = [];
    if (!known) return places;
    for (let at = 0; at + MIN_SECRET_LENGTH <= text.length; at++) {
      const slot = slotAt(text, at);
      if (known[slot >> 3]! & (1 << (slot & 7))) places.push(at);
    }
    return places;
  }
}

function slotAt(text: string, at: number): number {
  let hash = 0;
  for (let next = at; next < at + MIN_SECRET_LENGTH; next++) hash = imul(hash, 31) + text.charCodeAt(next);
  return imul(hash, 0x9e3779b1) >>> 19;
}

/** A set of lengths, sorted on demand. */
class Lengths {
  private readonly all = new Set<number>();
  private sorted: readonly number[] | undefined;

  add(length: number): void {
    if (this.all.has(length)) return;
    this.all.add(length);
    this.sorted = undefined;
  }

  get descending(): readonly number[] {
    return (this.sorted ??= [...this.all].sort((a, b) => b - a));
  }
}

/** For each position of a text, the position of the next ellipsis; undefined if the text has none. */
function nextCuts(text: string): Float64Array | undefined {
  const cuts = [...text.matchAll(CUT)].map(({ index }) => index);
  if (cuts.length === 0) return undefined;
  const next = new Float64Array(text.length + 1).fill(Infinity);
  let after = 0;
  for (const cut of cuts) {
    next.fill(cut, after, cut + 1);
    after = cut + 1;
  }
  return next;
}

/** Adds a place that does not begin before the places that were added earlier. */
function join(places: Place[], from: number, to: number): void {
  const last = places.at(-1);
  if (last && last[1] >= from) places[places.length - 1] = [last[0], max(last[1], to)];
  else places.push([from, to]);
}

function* partsOf(value: string): Iterable<string> {
  yield value.trim();
  const password = PASSWORD_IN_URL.exec(value)?.[1];
  if (password !== undefined) yield password;
  for (let from = 0, to = value.indexOf('\n'); from > 0 || to >= 0; to = value.indexOf('\n', from)) {
    yield value.slice(from, to < 0 ? undefined : to).trim();
    if (to < 0) return;
    from = to + 1;
  }
}

function writtenForms(part: string): Iterable<string> {
  if (PLAIN.test(part)) return [part];
  const bytes = Buffer.from(part, 'utf8').toString('utf8'); // a lone surrogate cannot be URL-encoded
  return new Set([
    part,
    JSON.stringify(part).slice(1, -1),
    encodeURIComponent(bytes),
    new URLSearchParams({ '': bytes }).toString().slice(1),
  ]);
}
