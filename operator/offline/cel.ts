/**
 * The part of CEL in which the rules of the CRDs are written: the operators but for arithmetic, `has`, `size`, tests of
 * strings, `all` and `filter`. The API server knows all of CEL; a test evaluates every rule of the CRDs here, and fails
 * when one uses more.
 */

type Scope = Readonly<Record<string, unknown>>;
type Expression = (scope: Scope) => unknown;

const TOKEN =
  /\s*(?:('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")|(\d+)|([A-Za-z_]\w*)|(&&|\|\||[=!<>]=|[-+!<>?:.,()[\]]))/y;

const comparisons: Readonly<Record<string, (a: unknown, b: unknown) => unknown>> = {
  '==': (a, b) => a === b,
  '!=': (a, b) => a !== b,
  '<': (a, b) => (a as number) < (b as number),
  '<=': (a, b) => (a as number) <= (b as number),
  '>': (a, b) => (a as number) > (b as number),
  '>=': (a, b) => (a as number) >= (b as number),
  in: (a, b) => (Array.isArray(b) ? b.includes(a) : Object.hasOwn(b as object, a as string)),
};

const methods: Readonly<Record<string, (target: unknown, argument: unknown) => unknown>> = {
  size: (target) => sizeOf(target),
  matches: (target, pattern) => new RegExp(pattern as string, 'u').test(target as string),
  contains: (target, part) => (target as string).includes(part as string),
  startsWith: (target, part) => (target as string).startsWith(part as string),
  endsWith: (target, part) => (target as string).endsWith(part as string),
};

/** They evaluate their second argument for each item of a list, or each key of a map. */
const macros: Readonly<Record<string, (items: unknown[], test: (item: unknown) => boolean) => unknown>> = {
  all: (items, test) => items.every(test),
  filter: (items, test) => items.filter(test),
};

/**
 * Compiles a rule to a function of the value of its place, which throws where CEL has an error: a field is absent.
 *
 * @throws Error the rule has something that is not known here
 */
export function compileRule(rule: string): (self: unknown) => boolean {
  const parser = new Parser(rule);
  const expression = parser.expression();
  parser.end();
  return (self) => expression({ self }) === true;
}

class Parser {
  private readonly tokens: readonly string[];
  private next = 0;

  constructor(private readonly rule: string) {
    this.tokens = tokensOf(rule);
  }

  expression(): Expression {
    const condition = this.binary(['||'], () => this.binary(['&&'], () => this.relation()));
    if (!this.takes('?')) return condition;
    const yes = this.expression();
    this.demand(':');
    const no = this.expression();
    return (scope) => (condition(scope) === true ? yes(scope) : no(scope));
  }

  end(): void {
    if (this.next < this.tokens.length) this.fail();
  }

  private binary(operators: readonly ['||'] | readonly ['&&'], operand: () => Expression): Expression {
    const operands = [operand()];
    while (this.takes(operators[0])) operands.push(operand());
    if (operands.length === 1) return operands[0]!;
    return operators[0] === '||'
      ? (scope) => operands.some((each) => each(scope) === true)
      : (scope) => operands.every((each) => each(scope) === true);
  }

  private relation(): Expression {
    let left = this.sum();
    for (
      let token = this.peek();
      token !== undefined && Object.hasOwn(comparisons, token);
      token = this.peek()
    ) {
      this.next += 1;
      const [before, compare, right] = [left, comparisons[token]!, this.sum()];
      left = (scope) => compare(before(scope), right(scope));
    }
    return left;
  }

  /** Of texts. */
  private sum(): Expression {
    const parts = [this.unary()];
    while (this.takes('+')) parts.push(this.unary());
    return parts.length === 1 ? parts[0]! : (scope) => parts.map((part) => part(scope)).join('');
  }

  private unary(): Expression {
    if (!this.takes('!')) return this.member();
    const operand = this.unary();
    return (scope) => operand(scope) !== true;
  }

  private member(): Expression {
    let target = this.primary();
    while (this.takes('.')) target = this.memberOf(target, this.take());
    return target;
  }

  private memberOf(target: Expression, name: string): Expression {
    if (!this.takes('(')) return (scope) => fieldOf(target(scope), name);
    if (Object.hasOwn(macros, name)) {
      const variable = this.take();
      this.demand(',');
      const body = this.expression();
      this.demand(')');
      return (scope) =>
        macros[name]!(itemsOf(target(scope)), (item) => body({ ...scope, [variable]: item }) === true);
    }
    const method = Object.hasOwn(methods, name) ? methods[name]! : this.fail();
    const [argument] = this.list(')');
    return (scope) => method(target(scope), argument?.(scope));
  }

  private primary(): Expression {
    const token = this.take();
    if (token === '(') {
      const inner = this.expression();
      this.demand(')');
      return inner;
    }
    if (token === '[') {
      const items = this.list(']');
      return (scope) => items.map((item) => item(scope));
    }
    if (token === 'has') return this.has();
    if (token === 'size') {
      this.demand('(');
      const [operand] = this.list(')');
      return (scope) => sizeOf(operand!(scope));
    }
    if (token === 'true' || token === 'false') return () => token === 'true';
    if (/^['"]/.test(token)) return () => token.slice(1, -1).replace(/\\(.)/g, '$1');
    if (/^\d/.test(token)) return () => Number(token);
    if (!/^\w/.test(token)) this.fail();
    return (scope) => fieldOf(scope, token);
  }

  /** `has(a.b.c)`: whether the last field is there. */
  private has(): Expression {
    this.demand('(');
    let target = this.primary();
    this.demand('.');
    let name = this.take();
    while (this.takes('.')) {
      target = this.memberOf(target, name);
      name = this.take();
    }
    this.demand(')');
    return (scope) => Object.hasOwn(target(scope) as object, name);
  }

  private list(end: string): Expression[] {
    const items: Expression[] = [];
    while (!this.takes(end)) {
      if (items.length > 0) this.demand(',');
      items.push(this.expression());
    }
    return items;
  }

  private peek(): string | undefined {
    return this.tokens[this.next];
  }

  private take(): string {
    const token = this.peek() ?? this.fail();
    this.next += 1;
    return token;
  }

  private takes(token: string): boolean {
    if (this.peek() !== token) return false;
    this.next += 1;
    return true;
  }

  private demand(token: string): void {
    if (!this.takes(token)) this.fail();
  }

  private fail(): never {
    const place = this.tokens.slice(this.next).join(' ') || 'its end';
    throw new Error(`cannot compile CEL rule ${this.rule}: ${place} is not understood`);
  }
}

function tokensOf(rule: string): string[] {
  const tokens: string[] = [];
  let end = 0;
  while (rule.slice(end).trim() !== '') {
    TOKEN.lastIndex = end;
    const found = TOKEN.exec(rule);
    if (!found) throw new Error(`cannot compile CEL rule ${rule}: ${rule.slice(end)} is not understood`);
    tokens.push(found[0].trim());
    end = TOKEN.lastIndex;
  }
  return tokens;
}

function fieldOf(target: unknown, name: string): unknown {
  if (typeof target !== 'object' || target === null || !Object.hasOwn(target, name))
    throw new Error(`no such key: ${name}`);
  return (target as Readonly<Record<string, unknown>>)[name];
}

const itemsOf = (value: unknown): unknown[] =>
  Array.isArray(value) ? (value as unknown[]) : Object.keys(value as object);

/** Of a text: the number of its characters. */
const sizeOf = (value: unknown): number =>
  typeof value === 'string' ? [...value].length : itemsOf(value).length;
