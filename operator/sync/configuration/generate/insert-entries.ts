import { isCollection, isMap, isPair, isScalar, type Node, type Pair, type YAMLMap } from 'yaml';
import type { HubYaml } from './hub-yaml';

/** Three dots at the beginning of a line end the document, regardless of the text around them. */
const DOCUMENT_END = /^\.\.\.(?=[ \t\r\n]|$)/m;

/**
 * Adds entries to the top level of a file, each as YAML in one line (`automation: !include
 * automations.yaml`). The rest of the file stays byte for byte. New entries are added after the present ones,
 * so that line numbers in messages of the hub match the user's text. Only if that would change a value, they
 * are added at the beginning.
 *
 * @returns undefined when the file is written in a way that cannot be extended
 */
export function insertAtTop(text: string, file: HubYaml, entries: readonly string[]): string | undefined {
  const { root } = file;
  if (entries.length === 0) return text;
  if (root !== null && !isMap(root)) return undefined;
  if (root?.flow) return insertIntoFlow(text, root, entries);
  const end = DOCUMENT_END.exec(text)?.index ?? text.length;
  if (root && endsInOpenBlock(text.slice(0, end), file)) return insertIntoBlock(text, root, entries);
  const separator = end === 0 || text[end - 1] === '\n' ? '' : newlineOf(text);
  const indent = root ? indentAt(text, root.range![0]) : '';
  return splice(text, end, separator + linesOf(entries, indent, text));
}

/** Adds entries to the value of a top-level entry, which is a mapping or empty. */
export function insertIntoValue(text: string, pair: Pair<Node, Node | null>, entries: readonly string[]) {
  const { value } = pair;
  if (entries.length === 0) return text;
  if (isMap(value))
    return value.flow ? insertIntoFlow(text, value, entries) : insertIntoBlock(text, value, entries);
  if (!isScalar(value) || value.value !== '' || value.anchor || value.tag || value.type !== 'PLAIN')
    return undefined;
  const offset = value.range![0];
  const space = text[offset] === '#' ? ' ' : '';
  return splice(text, offset, ` {${entries.join(', ')}}${space}`);
}

function insertIntoFlow(text: string, map: YAMLMap, entries: readonly string[]): string {
  return splice(text, map.range![0] + 1, `${entries.join(', ')}, `);
}

/** Adds entries before the first entry of the mapping, each in its own line. */
function insertIntoBlock(text: string, map: YAMLMap, entries: readonly string[]): string | undefined {
  const first = map.range![0];
  const indent = indentAt(text, first);
  const start = lineStart(text, first);
  // A mapping that begins in the line of its key (`? a: b`) cannot be extended.
  if (/^[?:-]\s/.test(text.slice(start + indent.length, first))) return undefined;
  return splice(text, start, linesOf(entries, indent, text));
}

/**
 * Reports whether the text ends in a block scalar without a line break: a line added there would belong to
 * its value.
 */
function endsInOpenBlock(text: string, { root }: HubYaml): boolean {
  if (text.endsWith('\n')) return false;
  let last: unknown = root;
  while (isCollection(last)) {
    const item: unknown = last.items.at(-1);
    last = isPair(item) ? item.value : item;
  }
  return isScalar(last) && (last.type === 'BLOCK_LITERAL' || last.type === 'BLOCK_FOLDED');
}

const newlineOf = (text: string): string => (text.includes('\r\n') ? '\r\n' : '\n');

const linesOf = (entries: readonly string[], indent: string, text: string): string =>
  entries.map((entry) => `${indent}${entry}${newlineOf(text)}`).join('');

const lineStart = (text: string, offset: number): number =>
  offset === 0 ? 0 : text.lastIndexOf('\n', offset - 1) + 1;

const indentAt = (text: string, offset: number): string =>
  /^ */.exec(text.slice(lineStart(text, offset)))![0];

const splice = (text: string, offset: number, inserted: string): string =>
  text.slice(0, offset) + inserted + text.slice(offset);
