// The hub compiles regular expressions with Python, and the browser compiles them with JavaScript. Only the
// syntax that both have in common is accepted. A hub that cannot compile a helper's expression loses the
// helper.

/** Maximum depth of nested groups, since Python parses them recursively. */
const MOST_NESTED = 50;

/**
 * Checks a regular expression.
 *
 * @returns a sentence without the field, with the reason why the hub might not compile the expression;
 * undefined if there is none
 */
export function patternProblem(pattern: string): string | undefined {
  try {
    new PatternReader(pattern).read();
    return undefined;
  } catch (error) {
    if (error instanceof PatternProblem) return error.message;
    throw error;
  }
}

class PatternProblem extends Error {}

class PatternReader {
  /** The code points of the expression, since Python counts code points. */
  private readonly signs: readonly string[];
  private at = 0;

  constructor(pattern: string) {
    this.signs = [...pattern];
  }

  read(): void {
    this.alternatives(0);
    if (this.at < this.signs.length) throw this.problem('this ) closes no group');
  }

  private alternatives(depth: number): void {
    if (depth > MOST_NESTED) throw this.problem(`more than ${MOST_NESTED} groups are nested`);
    for (;;) {
      this.sequence(depth);
      if (!this.take('|')) return;
    }
  }

  private sequence(depth: number): void {
    for (let sign = this.next; sign !== undefined && sign !== '|' && sign !== ')'; sign = this.next) {
      const isRepeatable = this.part(depth);
      const repetition = this.repetition();
      if (repetition && !isRepeatable) throw this.problem(`${repetition} repeats nothing`);
      if (repetition && this.repetition()) throw this.problem('a repetition is repeated');
    }
  }

  /** Reads one part of a sequence. Reports whether it may be repeated. */
  private part(depth: number): boolean {
    const sign = this.signs[this.at++]!;
    if (sign === '(') return this.group(depth);
    if (sign === '[') return this.set();
    if (sign === '\\') return this.escape() !== 'anchor';
    if ('*+?'.includes(sign)) throw this.problem(`${sign} repeats nothing: \\${sign} stands for the sign`);
    if ('{}]'.includes(sign)) throw this.problem(`\\${sign} stands for the sign ${sign}`);
    return sign !== '^' && sign !== '$';
  }

  private group(depth: number): boolean {
    let isRepeatable = true;
    if (this.take('?')) {
      const kind = this.signs[this.at++] ?? '';
      if (!':=!'.includes(kind) || kind === '')
        throw this.problem('of the groups that begin with (? only (?:, (?= and (?! can be used');
      isRepeatable = kind === ':';
    }
    this.alternatives(depth + 1);
    if (!this.take(')')) throw this.problem('a group is not closed by )');
    return isRepeatable;
  }

  /**
   * Reads a repetition: `*`, `+`, `?`, `{n}`, `{n,}` or `{n,m}`, each optionally followed by `?`.
   *
   * @returns undefined when there is none
   */
  private repetition(): string | undefined {
    const text = this.signs.slice(this.at, this.at + LONGEST_REPETITION).join('');
    const found = /^([*+?]|\{(\d{1,4})(,(\d{1,4})?)?\})\??/.exec(text);
    if (!found) return undefined;
    const [whole, , least, , most] = found;
    if (most !== undefined && Number(most) < Number(least))
      throw this.problem(`${whole}: the second number is less`);
    this.at += whole.length;
    return whole;
  }

  /** Reads the rest of a set such as `[a-z]`, after its bracket. */
  private set(): true {
    this.take('^');
    if (this.next === ']') throw this.problem('a set is empty: \\] stands for the sign ]');
    while (!this.take(']')) {
      const first = this.setSign();
      if (this.next !== '-' || this.signs[this.at + 1] === ']') continue;
      this.at += 1;
      const last = this.setSign();
      if (first === undefined || last === undefined || codeOf(first) > codeOf(last))
        throw this.problem('a range of a set needs two signs in their order: \\- stands for the sign -');
    }
    return true;
  }

  /**
   * Reads one character of a set.
   *
   * @returns undefined for a class of characters
   */
  private setSign(): string | undefined {
    const sign = this.signs[this.at++];
    if (sign === undefined) throw this.problem('a set is not closed by ]');
    if (sign === '[') throw this.problem('\\[ stands for the sign [ within a set');
    if (sign !== '\\') return sign;
    const escaped = this.escape(true);
    return escaped === 'class' ? undefined : escaped;
  }

  /**
   * Reads the rest of an escape, after its `\`, and returns the character that it stands for. `anchor` stands
   * for a boundary of a word, and `class` for a class of characters.
   */
  private escape(isInSet = false): string {
    const sign = this.signs[this.at++];
    if (sign === undefined) throw this.problem('it ends with \\');
    if ('dDwWsS'.includes(sign)) return 'class';
    if (!isInSet && 'bB'.includes(sign)) return 'anchor';
    const control = CONTROLS[sign];
    if (control !== undefined) return control;
    if (sign === 'x') return this.code(2);
    if (sign === 'u') return this.code(4);
    if (/^[ -~]$/.test(sign) && !/[A-Za-z0-9]/.test(sign)) return sign;
    throw this.problem(`\\${sign} is not known to both`);
  }

  private code(digits: number): string {
    const text = this.signs.slice(this.at, this.at + digits).join('');
    if (text.length !== digits || !/^[0-9a-fA-F]+$/.test(text))
      throw this.problem(`${digits} hexadecimal digits are missing`);
    this.at += digits;
    return String.fromCharCode(parseInt(text, 16));
  }

  private get next(): string | undefined {
    return this.signs[this.at];
  }

  private take(sign: string): boolean {
    if (this.next !== sign) return false;
    this.at += 1;
    return true;
  }

  private problem(what: string): PatternProblem {
    return new PatternProblem(
      `${what} (at character ${this.at}). The hub and the browser have to understand it: see the description of the field.`,
    );
  }
}

const LONGEST_REPETITION = 12;
const CONTROLS: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r', f: '\f', v: '\v' };

const codeOf = (sign: string): number => sign.codePointAt(0)!;
