/**
 * Prefix of an integer that a JavaScript number cannot represent; its digits follow. It consists of private-use
 * characters, so that no key or value of a user begins with it.
 */
const MARK = '\u{F0000}integer:';

/** What may be such an integer: 16 digits in a row or, from 2^63 on, the exponent that the API server writes. */
const CANDIDATE = /\d{16}|e\+\d\d/;
const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/g;

/** An integer of any size as the rest of the operator has it: beyond 2^53 a marked string, which {@link unsafeIntegers} finds. */
export function safeInteger(value: bigint): number | string {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : `${MARK}${value}`;
}

/**
 * `JSON.parse`, except that integers beyond 2^53 are not rounded: each becomes a marked string, which {@link
 * unsafeIntegers} finds. For a text without such an integer the only overhead is one search.
 *
 * @throws SyntaxError
 */
export function parseJson(text: string): unknown {
  return JSON.parse(CANDIDATE.test(text) ? text.replace(STRING_OR_NUMBER, markUnsafe) : text);
}

function markUnsafe(token: string): string {
  if (token.startsWith('"')) return token;
  const value = Number(token);
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? JSON.stringify(MARK + token) : token;
}

export interface UnsafeInteger {
  /** `spec.actions[0].data.chat_id` */
  readonly path: string;
  /** As the API server wrote it. */
  readonly digits: string;
}

/** The integers in `value`, which is at `path`, beyond 2^53: a JavaScript number cannot represent them. */
export function unsafeIntegers(value: unknown, path: string): UnsafeInteger[] {
  if (typeof value === 'string')
    return value.startsWith(MARK) ? [{ path, digits: value.slice(MARK.length) }] : [];
  if (Array.isArray(value)) return value.flatMap((item, index) => unsafeIntegers(item, `${path}[${index}]`));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, part]) => unsafeIntegers(part, `${path}.${key}`));
}

/** Says why a resource with this integer cannot be used, as a sentence (rules.md, "Numbers"). */
export function unsafeIntegerMessage({ path, digits }: UnsafeInteger): string {
  return `${path} is the integer ${digits}, which is beyond 2^53 and would lose digits. Quote it: "${digits}".`;
}
