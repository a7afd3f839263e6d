import { randomInt } from 'node:crypto';

const { imul } = Math;

// Two polynomial hashes of 32 bits. Their bases are random in each process.
const randomBase = (): number => randomInt(2 ** 24, 2 ** 31) | 1;
const [FIRST_BASE, SECOND_BASE] = [randomBase(), randomBase()];

const appended = (hash: number, base: number, code: number): number => (imul(hash, base) + code + 1) | 0;

/** The hashes of all parts of a text: each costs the same, regardless of its length. */
export class TextHashes {
  private readonly first: RollingHash;
  private readonly second: RollingHash;

  constructor(text: string) {
    this.first = new RollingHash(text, FIRST_BASE);
    this.second = new RollingHash(text, SECOND_BASE);
  }

  /** Whether the set has the hash of the characters in `[from, to)`. */
  isIn(set: HashSet, from: number, to: number): boolean {
    return set.has(this.first.of(from, to), this.second.of(from, to));
  }
}

class RollingHash {
  /** The hash of each beginning of the text. */
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

/** A set of the hashes of texts, which takes 12 to 24 bytes for each: a Set of numbers takes 40 and more. */
export class HashSet {
  /** Pairs; one that is free has 0 in its second place. */
  private slots = new Int32Array(32);
  private count = 0;

  /** The memory that the texts take, in bytes. */
  get size(): number {
    return this.slots.byteLength;
  }

  has(first: number, second: number): boolean {
    return this.slots[this.slotOf(first, second | 1) + 1] !== 0;
  }

  /** Adds the hash of a text and those of its first `least`, twice as many, … characters to `beginnings`. @returns the largest of these numbers */
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

  /** The slot that has the hash, or the free one for it. */
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
