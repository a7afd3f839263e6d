import type { ConfigEntityKind, EntityPayload } from '../../../client/connection/config-entity';

// Writes a delivered definition as one line of JSON. Only those parts of JSON are used that the hub's YAML
// loader reads as the same values.

/** Limit for nested lists and mappings. The hub's loader is recursive and fails at about 300 levels. */
const DEEPEST = 100;
/**
 * Limit for the characters of a key in the file, including quotes and escapes. With more than 1,024 the
 * loader rejects the whole file.
 */
const LONGEST_KEY = 1_000;

/** Characters that the loader rejects, or treats as line breaks, even inside quotes. */
const ESCAPED = /[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g;
/** An unpaired surrogate, which the loader rejects even as an escape. */
const HALF = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/**
 * A sentence about why a definition cannot be delivered in a file.
 *
 * @returns undefined when it can
 */
export function undeliverable(payload: EntityPayload): string | undefined {
  return problemIn(payload, 1);
}

function problemIn(value: unknown, depth: number): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth > DEEPEST) return `It has more than ${DEEPEST} lists and mappings in each other.`;
  for (const [key, each] of Object.entries(value)) {
    if (!Array.isArray(value) && quoted(key).length > LONGEST_KEY)
      return `It has a key of more than ${LONGEST_KEY} characters with its quotes and escapes (${key.slice(0, 40)}…).`;
    const problem = problemIn(each, depth + 1);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** The line of one definition: an item of a list, or for scripts an entry of a mapping. */
export function itemText(kind: ConfigEntityKind, id: string, payload: EntityPayload): string {
  return kind === 'script' ? `${quoted(id)}: ${textOf(payload)}` : textOf({ ...payload, id });
}

/** The whole file of a kind. */
export function fileText(kind: ConfigEntityKind, lines: readonly string[]): string {
  const [open, close] = kind === 'script' ? '{}' : '[]';
  return `${open}\n${lines.join(',\n')}\n${close}\n`;
}

/**
 * The definitions in a file, by id. Empty if a user has broken the file, since all definitions are written
 * again then.
 */
export function readFileText(kind: ConfigEntityKind, text: string): ReadonlyMap<string, EntityPayload> {
  try {
    const content = JSON.parse(text) as unknown;
    if (kind === 'script') return new Map(Object.entries(content as Record<string, EntityPayload>));
    return new Map(
      (content as (EntityPayload & { readonly id: string })[]).map(({ id, ...payload }) => [id, payload]),
    );
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return new Map();
    throw error;
  }
}

function textOf(value: unknown): string {
  if (typeof value === 'number') return numberText(value);
  if (typeof value === 'string') return quoted(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(textOf).join(', ')}]`;
  const entries = Object.entries(value).filter(([, each]) => each !== undefined);
  return `{${entries.map(([key, each]) => `${quoted(key)}: ${textOf(each)}`).join(', ')}}`;
}

/** Formats a number. The loader reads `1e+21` as text, but `1.0e+21` as a number. */
function numberText(value: number): string {
  const text = JSON.stringify(value);
  return /^-?\d+e/.test(text) ? text.replace('e', '.0e') : text;
}

const quoted = (text: string): string =>
  JSON.stringify(text.replace(HALF, '\ufffd')).replace(
    ESCAPED,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
