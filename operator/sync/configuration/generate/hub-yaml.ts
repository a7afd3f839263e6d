import {
  type Alias,
  type Document,
  isAlias,
  isScalar,
  LineCounter,
  type Node,
  parseDocument,
  type Scalar,
  visit,
  type YAMLParseError,
} from 'yaml';
import { isPlainYaml } from '../../../base/plain-yaml';
import { type Anchors, isMergeKey } from './merge-keys';

/**
 * A file in the YAML of Home Assistant. Its tags (`!secret`, `!include` …) are kept, since only the hub
 * resolves them.
 */
export interface HubYaml {
  readonly document: Document.Parsed;
  /** Null for a file with nothing but comments. */
  readonly root: Node | null;
  readonly anchors: Anchors;
  /** Line and column of a character of the text, both counted from 1. */
  readonly positionOf: (offset: number) => Position;
}

export interface Position {
  readonly line: number;
  readonly column: number;
}

export interface YamlProblem {
  /** The problem without a full stop: "Map keys must be unique". */
  readonly problem: string;
  readonly position: Position;
}

/** Characters that the hub's loader rejects anywhere in a text. */
const NOT_PRINTABLE = /[^\t\n\r\x20-\x7E\x85\xA0-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u;

/**
 * A byte order mark inside the text, where it would be an invisible part of a name. Only at the beginning it
 * is a mark.
 */
const BYTE_ORDER_MARK = /\ufeff/;

/**
 * Characters that are line breaks in YAML 1.1, as the hub's loader reads them, but not in YAML 1.2, as parsed
 * here.
 */
const OTHER_LINE_BREAK = /\r(?!\n)|[\x85\u2028\u2029]/;

/** Problem of a text that overflows the stack: this parser is recursive, and so is the hub's. */
const TOO_DEEP = 'it is nested too deeply';

/**
 * Thrown for a text whose parsing time cannot be predicted from its length, so that it is parsed in a bounded
 * worker instead.
 */
export class NotPlain extends Error {}

/**
 * Like {@link parseHubYaml}, for texts that are cheap to parse regardless of their content.
 *
 * @throws NotPlain
 */
export function parsePlainYaml(text: string): HubYaml | YamlProblem {
  if (!isPlainYaml(text)) throw new NotPlain();
  return parseHubYaml(text, 0);
}

/**
 * Parses a file with the structure that the hub's loader would find. All scalars are strings: the hub decides
 * which of them are booleans or numbers.
 *
 * @param mostParsed limit of the characters that are parsed, over all attempts, if a text has lines without
 * indent
 * @throws NotPlain if the limit is 0 and a second attempt is needed
 */
export function parseHubYaml(text: string, mostParsed = MOST_PARSED): HubYaml | YamlProblem {
  // The hub skips a byte order mark, but this parser counts it as a column.
  const body = text.replace(/^\ufeff/, '');
  const positionOf = positionsIn(body);
  const problemAt = (problem: string, offset: number) => ({ problem, position: positionOf(offset) });
  const unreadable = [NOT_PRINTABLE, OTHER_LINE_BREAK, BYTE_ORDER_MARK].map((each) => each.exec(body));
  const [found] = unreadable.filter((each) => each !== null);
  if (found) return problemAt(describeCharacter(found[0]), found.index);
  try {
    const document = parseWithoutIndents(body, mostParsed);
    const [error] = document.errors;
    if (error) return problemAt(sentenceOf(error), error.pos[0]);
    const duplicate = duplicateKey(document);
    if (duplicate) return problemAt(`the key ${String(duplicate.value)} occurs twice`, duplicate.range[0]);
    const anchors = anchorsOf(document);
    for (const [{ source, range }, target] of anchors)
      if (!target) return problemAt(`the alias *${source} refers to nothing before it`, range![0]);
    return { document, root: isNothing(document.contents) ? null : document.contents, anchors, positionOf };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return { problem: TOO_DEEP, position: { line: 1, column: 1 } };
  }
}

/**
 * Parses a text in which quoted scalars and collections in brackets may continue on lines without indent, as
 * the hub's loader accepts it. Line breaks in them are replaced by other characters, so that all positions
 * stay the same.
 */
function parseWithoutIndents(text: string, mostParsed: number): Document.Parsed {
  let joined = text;
  let first: Document.Parsed | undefined;
  for (let parsed = text.length; ; parsed += text.length) {
    const document = parseOnce(joined);
    const [error] = document.errors;
    const next = error && (mostParsed === 0 || parsed < mostParsed) ? joinLines(joined, error) : undefined;
    if (next !== undefined && mostParsed === 0) throw new NotPlain();
    // A quote or bracket that is never closed is reported at the end of its first line.
    if (next === undefined) return error && first?.errors[0]?.code === error.code ? first : document;
    first ??= document;
    joined = next;
  }
}

function parseOnce(text: string): Document.Parsed {
  const { stackTraceLimit } = Error;
  try {
    // A text may have an error in each line, and stack traces for all would take most of the time and memory.
    Error.stackTraceLimit = 0;
    return parseDocument(text, {
      schema: 'failsafe',
      // YAML 1.2 requires a space before a comment, but the hub's loader does not.
      strict: false,
      // Duplicate keys are found in {@link duplicateKey}, since the parser would compare every key with every
      // other.
      uniqueKeys: false,
      prettyErrors: false,
    });
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/**
 * Maximum number of characters that are parsed for one text, over all attempts, which takes about a second.
 */
const MOST_PARSED = 500_000;

/** Replaces a line break inside quotes. */
const LINE_BREAK = '\ue000';

/**
 * Joins the line at which the parser stopped with the line before it, or joins all lines of a quoted text.
 *
 * @returns undefined when a missing indent is not the problem
 */
function joinLines(text: string, { code, message, pos: [at] }: YAMLParseError): string | undefined {
  const quote = /^Missing closing (["'])/.exec(message)?.[1];
  if (quote) {
    const isEscaped = quote === '"' && /(?<!\\)(\\\\)*\\$/.test(text.slice(0, at));
    const start = isEscaped ? at - 1 : at;
    const rest = quote === '"' ? /(?:[^"\\]|\\[^])*"/y : /(?:[^']|'')*'/y;
    rest.lastIndex = start;
    const lines = rest.exec(text)?.[0];
    if (lines === undefined) return undefined;
    const breaks = quote === '"' ? /\\\r?\n|\\[^]|\r?\n/g : /\r?\n/g;
    const joined = lines.replace(breaks, (each) =>
      each.endsWith('\n') ? LINE_BREAK.repeat(each.length) : each,
    );
    return text.slice(0, start) + joined + text.slice(start + lines.length);
  }
  if (code !== 'BAD_INDENT' || !message.startsWith('Flow')) return undefined;
  if (text[at - 1] !== '\n') return undefined;
  const end = at - (text[at - 2] === '\r' ? 2 : 1);
  const line = text.slice(text.lastIndexOf('\n', end - 1) + 1, end);
  // A comment ends with its line. A `#` before a quote may be part of a quoted text.
  const rest = line.slice(Math.max(0, line.lastIndexOf('"'), line.lastIndexOf("'")));
  const comment = rest.search(/(?<=\s|^)#/);
  const start = comment === -1 ? end : end - rest.length + comment;
  return text.slice(0, start) + ' '.repeat(at - start) + text.slice(at);
}

/** Reports whether the root is the empty node after `---`. */
const isNothing = (root: Node | null): boolean =>
  isScalar(root) && root.type === 'PLAIN' && root.value === '' && !root.tag && !root.anchor;

/** The first key that occurs a second time in its mapping: the hub would use only the last value. */
function duplicateKey(document: Document.Parsed): Scalar.Parsed | undefined {
  let duplicate: Scalar.Parsed | undefined;
  visit(document, {
    Map(_, map) {
      const seen = new Set<string>();
      for (const { key } of map.items) {
        if (!isScalar(key) || isMergeKey(key)) continue;
        if (seen.has(constructedKey(key))) duplicate ??= key as Scalar.Parsed;
        seen.add(constructedKey(key));
      }
    },
  });
  return duplicate;
}

/** A key with its type, since the number 1 and the text "1" are different keys. */
const constructedKey = ({ type, value }: Scalar): string =>
  type === 'PLAIN' && NOT_TEXT.test(String(value)) ? `plain ${String(value)}` : `text ${String(value)}`;

const NOT_TEXT = /^(|~|null|y|n|yes|no|on|off|true|false|[-+.\d].*)$/i;

/** The node that each alias refers to. Undefined if no anchor of that name precedes the alias. */
function anchorsOf(document: Document.Parsed): Map<Alias, Node | undefined> {
  const named = new Map<string, Node>();
  const anchors = new Map<Alias, Node | undefined>();
  visit(document, {
    Node(_, node) {
      if (isAlias(node)) anchors.set(node, named.get(node.source));
      else if (node.anchor) named.set(node.anchor, node);
    },
  });
  return anchors;
}

function sentenceOf({ code, message }: { readonly code: string; readonly message: string }): string {
  if (code === 'MULTIPLE_DOCS') return 'a second document begins here, and the hub reads only one';
  if (message.includes('call stack')) return TOO_DEEP;
  if (message.startsWith('Missing closing')) return 'a text in quotes is not closed: close it';
  if (code === 'BAD_INDENT' && message.startsWith('Flow'))
    return 'a list or mapping in brackets is not closed, or goes on in a line that is not indented: close it, or indent its lines and its closing bracket';
  return message.replace(/\s+/g, ' ').replace(/[.:]\s*$/, '');
}

function describeCharacter(character: string): string {
  const code = `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`;
  return OTHER_LINE_BREAK.test(character)
    ? `the character ${code} is a line break to the hub, but not in other programs: remove it, or write it as an escape in double quotes`
    : `the character ${code} is not allowed here: remove it, or write it as an escape in double quotes`;
}

function positionsIn(text: string): HubYaml['positionOf'] {
  const lines = new LineCounter();
  lines.addNewLine(0);
  for (const { index } of text.matchAll(/\n/g)) lines.addNewLine(index + 1);
  return (offset) => {
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  };
}
