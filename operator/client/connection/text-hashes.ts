import { randomInt } from 'node:crypto';

const { imul } = Math;

// Two polynomial hashes of 32 bits. Their bases are chosen at random in each process.
const randomBase = (): number => randomInt(2 ** 24, 2 ** 31) | 1;
const [FIRST_BASE, SECOND_BASE] = [randomBase(), randomBase()];

const appended = (hash: number, base: number, code: number): number => (imul(hash, base) + code + 1) | 0;

/** The hashes of all substrings of a text. Each is computed in constant time. */
export class TextHashes {
  private readonly first: RollingHash;
  private readonly second: RollingHash;

  constructor(text: string) {
    this.first = new RollingHash(text, FIRST_BASE);
    this.second = new RollingHash(text, SECOND_BASE);
  }

  /** Whether the set contains the hash of the characters in `[from, to)`. */
  isIn(set: HashSet, from: number, to: number): boolean {
    return set.has(this.first.of(from, to), this.second.of(from, to));
  }
}

class RollingHash {
  /** The hashes of all prefixes of the text. */
  private readonly beginnings: Int32Array;
  private readonly powers: Int32Array;

  constructor(text: string, base: number) {
    const beginnings = new Int32Array(text.length + 1);
    const powers = new Int32Array(text.length + 1);
    powers[0] = 1;
    for (let at = 0; at < text.length; at++) {
      beginnings[at + 1] = appended(beginnings[at]!, base, text.charCodeAt(at));
      powers[at + 1] = imul(powers[at]!, base);
    }
    this.beginnings = beginnings;
    this.powers = powers;
  }

  of(from: number, to: number): number {
    return (this.beginnings[to]! - imul(this.beginnings[from]!, this.powers[to - from]!)) | 0;
  }
}

/** A set of text hashes, which takes 12 to 24 bytes for each. A Set of numbers would take 40 and more. */
export class HashSet {
  /** Pairs of hash parts. A free slot has 0 in its second part. */
  private slots = new Int32Array(32);
  private count = 0;

  /** Memory of the set, in bytes. */
  get size(): number {
    return this.slots.byteLength;
  }

  has(first: number, second: number): boolean {
    return this.slots[this.slotOf(first, second | 1) + 1] !== 0;
  }

  /**
   * Adds the hash of a text. Also adds the hashes of its first `least`, 2 × `least`, 4 × `least`, …
   * characters to `beginnings`. @returns the largest of these lengths
   */
  addText(text: string, beginnings: HashSet, least: number): number {
    let [first, second, next] = [0, 0, least];
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      first = appended(first, FIRST_BASE, code);
      second = appended(second, SECOND_BASE, code);
      if (at + 1 !== next) continue;
      beginnings.add(first, second);
      next *= 2;
    }
    this.add(first, second);
    return next / 2;
  }

  private add(first: number, second: number): void {
    const slot = this.slotOf(first, second | 1);
    if (this.slots[slot + 1] !== 0) return;
    this.slots[slot] = first;
    this.slots[slot + 1] = second | 1;
    if (3 * ++this.count > this.slots.length) this.grow();
  }

  /** The slot that contains the hash, or the free slot for it. */
  private slotOf(first: number, second: number): number {
    const { slots } = this;
    const last = slots.length - 1;
    let slot = ((first ^ (second >>> 12)) << 1) & last;
    while (slots[slot + 1] !== 0 && (slots[slot] !== first || slots[slot + 1] !== second))
      slot = (slot + 2) & last;
    return slot;
  }

  private grow(): void {
    const before = this.slots;
    this.slots = new Int32Array(2 * before.length);
    for (let at = 0; at < before.length; at += 2) {
      if (before[at + 1] === 0) continue;
      const slot = this.slotOf(before[at]!, before[at + 1]!);
      this.slots[slot] = before[at]!;
      this.slots[slot + 1] = before[at + 1]!;
    }
  }
}
