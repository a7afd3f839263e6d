import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  visit,
} from 'yaml';
import type { BoundedTask } from '../../operator/base/bounded-task';
import { isObject } from '../../operator/base/is-object';
import type { ConfigEntityKind } from '../../operator/client/connection/config-entity';
import { numbersOfJson } from '../../operator/offline/manifests';
import { syntaxMessage } from '../../operator/offline/syntax-messages';
import { hubReading, nameNullKeys, tagOf } from './hub-reading';

type Fields = Readonly<Record<string, unknown>>;

/** An automation, scene or script in a file of the hub. */
export interface Definition {
  /** Undefined if the definition has no id. */
  readonly id?: string;
  readonly line: number;
  readonly payload: Fields;
}

interface ReadDefinitions {
  readonly definitions: readonly Definition[];
  /** Sentences, without the file, about items that cannot become resources. */
  readonly unread: readonly { readonly line: number; readonly reason: string }[];
}

interface Given {
  readonly kind: ConfigEntityKind;
  readonly text: string;
}

/** Reads `automations.yaml`, `scripts.yaml` or `scenes.yaml`, or a pasted text in the form of one of them. */
export const definitionsTask: BoundedTask<Given, ReadDefinitions> = {
  name: 'definitions',
  run: readDefinitions,
};

function readDefinitions({ kind, text }: Given): ReadDefinitions {
  const lines = new LineCounter();
  const lineOf = (node: Node | null) => lines.linePos(node?.range?.[0] ?? 0).line;
  const document = documentOf(text, lines);
  const [error] = document.errors;
  if (error)
    return {
      definitions: [],
      unread: [{ line: lines.linePos(error.pos[0]).line, reason: syntaxMessage(error) }],
    };
  const items = itemsOf(kind, document.contents);
  if (!items) return { definitions: [], unread: [{ line: 1, reason: `It is not a ${SHAPES[kind]}.` }] };
  let values: unknown;
  try {
    values = document.toJS({ reviver: numbersOfJson });
  } catch (reason) {
    return { definitions: [], unread: [{ line: 1, reason: syntaxMessage(reason) }] };
  }
  const definitions: Definition[] = [];
  const unread: { line: number; reason: string }[] = [];
  for (const { key, node } of items) {
    const line = lineOf(node);
    const tag = node ? tagIn(node, document) : undefined;
    const value = key === undefined ? values : (values as Fields)[key];
    if (tag !== undefined) {
      const reason = `It uses ${tag}, which a resource cannot: write the value itself, or keep it in a package.`;
      unread.push({ line, reason });
    } else if (isObject(value)) {
      const { id = kind === 'script' ? key : undefined, ...payload } = value;
      const isId = typeof id === 'string' || typeof id === 'number';
      definitions.push({ line, payload, ...(isId && { id: String(id) }) });
    } else unread.push({ line, reason: 'It is no mapping.' });
  }
  return { definitions, unread };
}

function documentOf(text: string, lines: LineCounter): Document.Parsed {
  // The YAML reader warns of every tag of Home Assistant.
  const document = parseDocument(text, {
    ...hubReading,
    lineCounter: lines,
    prettyErrors: false,
    logLevel: 'error',
  });
  nameNullKeys(document);
  return document;
}

const SHAPES: Readonly<Record<ConfigEntityKind, string>> = {
  automation: 'list of automations',
  scene: 'list of scenes',
  script: 'mapping of scripts by their ids',
};

/**
 * The nodes of the definitions, each with its key in the text. A single automation or scene is treated as a
 * list of one. @returns undefined if the text has another form
 */
function itemsOf(kind: ConfigEntityKind, contents: Node | null) {
  if (contents === null || (isScalar(contents) && contents.value === null)) return [];
  if (kind === 'script')
    return isMap(contents)
      ? contents.items.map(({ key, value }) => ({
          key: isScalar(key) ? String(key.value) : '',
          node: value as Node | null,
        }))
      : undefined;
  if (isSeq(contents))
    return contents.items.map((node, index) => ({ key: String(index), node: node as Node | null }));
  return isMap(contents) ? [{ key: undefined, node: contents as Node }] : undefined;
}

/** Tags of values that a resource can have. Without a tag, too, a date is a text in it. */
const JSON_TAGS: ReadonlySet<string> = new Set(
  ['str', 'int', 'float', 'bool', 'null', 'map', 'seq', 'timestamp'].map(tagOf).concat('!'),
);

/**
 * The first tag in a definition that a resource cannot have, such as one of Home Assistant, including those behind
 * its aliases; undefined if it has none.
 */
function tagIn(node: Node, document: Document, seen = new Set<Node>()): string | undefined {
  if (seen.has(node)) return undefined;
  seen.add(node);
  let found: string | undefined;
  visit(node, {
    Node(_, each) {
      const { tag } = each as { tag?: string };
      const target = isAlias(each) ? each.resolve(document) : undefined;
      if (target) found = tagIn(target, document, seen);
      else if (tag !== undefined && !JSON_TAGS.has(tag)) found = tag.replace(/^tag:yaml\.org,2002:/, '!!');
      return found === undefined ? undefined : visit.BREAK;
    },
  });
  return found;
}

/** Detects the kind of a pasted text by its form; undefined for a `configuration.yaml`. */
export const pastedKindTask: BoundedTask<string, ConfigEntityKind | 'none'> = {
  name: 'pastedKind',
  run(text) {
    const { contents, errors } = parseDocument(text, { ...hubReading, logLevel: 'error' });
    if (errors.length > 0) return 'none';
    const first = isSeq(contents) ? contents.items[0] : contents;
    if (!isMap(first)) return 'none';
    const has = (...keys: readonly string[]) => keys.some((key) => first.has(key));
    if (has('entities') && (isSeq(contents) || has('name'))) return 'scene';
    if (has('trigger', 'triggers', 'use_blueprint') && (isSeq(contents) || has('alias', 'id')))
      return 'automation';
    const isScript = ({ value }: { value: unknown }) =>
      isMap(value) && (value.has('sequence') || value.has('use_blueprint'));
    return !isSeq(contents) && first.items.length > 0 && first.items.every(isScript) ? 'script' : 'none';
  },
};
