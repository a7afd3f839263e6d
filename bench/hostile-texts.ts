/**
 * Configurations of random shapes over the grammar of YAML, which a user who may write a HubConfiguration can
 * send.
 */

/**
 * Sizes in characters: just short enough to be parsed in place, a large one, and the largest that the schema
 * accepts.
 */
const SIZES = [8_000, 128_000, 524_000];
const SHAPES = 20;
/** The seed of the random shapes. */
const SEED = Number(process.env['SEED'] ?? 814_704_581);

/**
 * A text and the number of its shape. A shape determines how often each production of the grammar is used.
 */
interface HostileText {
  readonly shape: number;
  readonly text: string;
}

/**
 * Generates shapes in all sizes, the small ones first.
 * @param most number of texts
 */
export function* hostileTexts(most: number): Generator<HostileText> {
  let count = 0;
  for (const size of SIZES)
    for (let shape = 0; shape < SHAPES; shape++) {
      if (count++ === most) return;
      yield { shape, text: new Shape(SEED + shape).text(size) };
    }
}

/** The generator Mulberry32, which gives the same numbers for the same seed. */
function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

type Production = (depth: number) => string;

/**
 * The weights of the productions. They are random and most of them are small, so that a few productions make
 * up the text.
 */
class Shape {
  private readonly next: () => number;
  private readonly nodes: readonly (readonly [weight: number, production: Production])[];
  private readonly lines: readonly (readonly [weight: number, line: () => string])[];
  /** Highest number of items in a collection. */
  private readonly width: number;
  private readonly depth: number;
  private readonly indents: boolean;
  private anchors = 0;
  private keys = 0;
  /** Number of nodes that may still be made, without which a deep and wide shape would not end. */
  private left = 0;

  constructor(seed: number) {
    this.next = random(seed);
    const weighted = <T>(of: readonly T[]) => of.map((each) => [this.next() ** 4, each] as const);
    this.width = 2 ** Math.ceil(this.next() * 12);
    this.depth = 2 ** Math.ceil(this.next() * 8);
    this.indents = this.next() < 0.7;
    this.nodes = weighted(this.nodeProductions());
    this.lines = weighted(this.lineProductions());
  }

  text(size: number): string {
    const parts: string[] = [];
    this.left = size / 4;
    for (let length = 0; length < size; length += parts.at(-1)!.length)
      parts.push(`${this.pick(this.lines)()}\n`);
    return parts.join('').slice(0, size);
  }

  private nodeProductions(): readonly Production[] {
    return [
      () => this.word(),
      () => `"${this.repeated(['x', '\\\\', '\\"', "'", '#'])}"`,
      () => `'${this.repeated(['x', "''", '"', ' #'])}'`,
      () => `!secret ${this.key()}`,
      () => `!include ${this.word()}.yaml`,
      () => this.alias(),
      (depth) => `&a${this.anchors++} ${this.collection(depth)}`,
      (depth) => this.collection(depth),
      (depth) =>
        `{${this.separated(() => `<<: [${this.separated(() => this.alias())}]`)}, ${this.key()}: ${this.node(depth)}}`,
      (depth) => `{? ${this.node(depth)} : ${this.node(depth)}}`,
    ];
  }

  private lineProductions(): readonly (() => string)[] {
    return [
      () => `${this.key()}: ${this.node(0)}`,
      () => `${this.key()}: &a${this.anchors++} ${this.node(0)}`,
      () => `${this.key()}:\n${this.block(1)}`,
      () => `${this.key()}: |\n  ${this.repeated(['x', '\n  ', '\n', '#'])}`,
      () => `# ${this.repeated(['# ', '"', 'x', "'"])}`,
      () => `${this.key()}: [\n${this.separated(() => this.node(0), ',\n')}]`,
      () => `${this.key()}: "${this.repeated(['\n', 'x', '\\\n'])}"`,
      () =>
        `homeassistant ${this.key()}: {packages: {${this.separated(() => `${this.key()}: ${this.alias()}`)}}}`,
      () =>
        this.repeated([
          '[',
          '{',
          '"',
          "'",
          '\n',
          '- ',
          ': ',
          '? ',
          '&a ',
          '*a ',
          '!',
          '|',
          '>',
          '%',
          '@',
          '#',
        ]),
    ];
  }

  private node(depth: number): string {
    return depth > this.depth || this.left-- < 0 ? this.word() : this.pick(this.nodes)(depth + 1);
  }

  private block(depth: number): string {
    const indent = this.indents ? '  '.repeat(depth) : ' '.repeat(depth);
    const inner = depth < this.depth && this.next() < 0.6;
    const value = inner ? `\n${this.block(depth + 1)}` : ` ${this.node(depth)}`;
    return `${indent}${this.key()}:${value}`;
  }

  private collection(depth: number): string {
    return this.next() < 0.5
      ? `[${this.separated(() => this.node(depth))}]`
      : `{${this.separated(() => `${this.key()}: ${this.node(depth)}`)}}`;
  }

  private separated(item: () => string, separator = ', '): string {
    const items = [item()];
    for (let left = this.next() * this.few(); left > 1 && this.left-- > 0; left--) items.push(item());
    return items.join(separator);
  }

  /** Wide collections are rare, because otherwise they would fill the text before anything is nested. */
  private few(): number {
    return this.next() < 0.2 ? this.width : 4;
  }

  private repeated(parts: readonly string[]): string {
    const part = parts[Math.floor(this.next() * parts.length)]!;
    const other = parts[Math.floor(this.next() * parts.length)]!;
    const times = Math.floor(this.next() * this.width);
    this.left -= times / 4;
    return part.repeat(Math.min(times, Math.max(0, this.left * 4 + times))) + other;
  }

  private alias(): string {
    return this.anchors === 0 ? this.word() : `*a${Math.floor(this.next() * this.anchors)}`;
  }

  private key(): string {
    return `k${this.keys++}`;
  }

  private word(): string {
    return 'x'.repeat(1 + Math.floor(this.next() * 3));
  }

  private pick<T>(weighted: readonly (readonly [number, T])[]): T {
    let left = this.next() * weighted.reduce((sum, [weight]) => sum + weight, 0);
    for (const [weight, each] of weighted) if ((left -= weight) <= 0) return each;
    return weighted[0]![1];
  }
}
