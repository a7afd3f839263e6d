import {
  type CollectionTag,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseAllDocuments,
  type ScalarTag,
  type Tags,
} from 'yaml';
import { isObject } from '../base/is-object';
import { safeInteger } from '../runtime/json';
import type { Path } from './field-path';
import { syntaxMessage } from './syntax-messages';

/** An object of a manifest. */
export interface Manifest {
  readonly file: string;
  /** As the API server would read it; integers beyond 2^53 are marked (runtime/json.ts). */
  readonly object: Readonly<Record<string, unknown>>;
  /** The line of a field, or of the nearest one that is there. Of the object: `[]`. */
  readonly lineOf: (path: Path) => number;
}

/** A text that cannot be read. */
export interface SyntaxProblem {
  readonly file: string;
  readonly line: number;
  /** A sentence. */
  readonly message: string;
}

/** Types of YAML 1.1 that kubectl does not know: times and dates are texts to it. */
const isTime = (tag: CollectionTag | ScalarTag): boolean =>
  ('format' in tag && tag.format === 'TIME') || tag.tag === 'tag:yaml.org,2002:timestamp';

/** A number with an exponent has a digit before it, other than in this library: `e5` is a text to kubectl. */
const WITH_EXPONENT = /^[-+]?(\d[\d_]*(\.[\d_]*)?|\.\d[\d_]*)[eE][-+]?\d+$/;

const isExponent = (tag: Tags[number]): tag is ScalarTag =>
  typeof tag === 'object' && 'format' in tag && tag.format === 'EXP';

/** The types of YAML 1.1 as kubectl reads them. */
const typesOfKubectl = (tags: Tags): Tags =>
  tags
    .filter((tag) => typeof tag === 'string' || !isTime(tag))
    .map((tag) => (isExponent(tag) ? { ...tag, test: WITH_EXPONENT } : tag));

/** The objects in a text as kubectl reads it: YAML 1.1 with several documents, or JSON. The items of lists count, not the lists. */
export function readManifests(file: string, content: string): (Manifest | SyntaxProblem)[] {
  const lines = new LineCounter();
  const lineAt = (node: Node | null | undefined): number => lines.linePos(node?.range?.[0] ?? 0).line;
  const documents = parseAllDocuments(content, {
    version: '1.1',
    customTags: typesOfKubectl,
    intAsBigInt: true,
    lineCounter: lines,
    prettyErrors: false,
  });
  return [...documents].flatMap((document): (Manifest | SyntaxProblem)[] => {
    const [error] = document.errors;
    const syntaxProblem = (line: number, message: string) => [{ file, line, message }];
    if (error) return syntaxProblem(lines.linePos(error.pos[0]).line, syntaxMessage(error));
    const root = document.contents;
    let value: unknown;
    try {
      value = document.toJS({
        reviver: (_, part: unknown) => (typeof part === 'bigint' ? safeInteger(part) : part),
      });
    } catch (reason) {
      return syntaxProblem(lineAt(root), syntaxMessage(reason));
    }
    const manifest = (object: Manifest['object'], within: Path): Manifest => ({
      file,
      object,
      lineOf: (path) => lineAt(nearest(root, [...within, ...path])),
    });
    if (!isObject(value)) return [];
    const { items, kind } = value;
    return Array.isArray(items) && String(kind).endsWith('List')
      ? items.flatMap((item, index) => (isObject(item) ? [manifest(item, ['items', index])] : []))
      : [manifest(value, [])];
  });
}

/** The node at a path, or the last one that is there; of a field: its name. */
function nearest(root: Node | null, path: Path): Node | null {
  let place = root;
  let node = root;
  for (const step of path) {
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(step));
      if (!pair) break;
      place = pair.key as Node;
      node = pair.value as Node | null;
    } else if (isSeq(node)) {
      node = (node.items[Number(step)] ?? null) as Node | null;
      place = node ?? place;
    } else break;
    if (isAlias(node)) break; // it stands elsewhere
  }
  return place;
}
