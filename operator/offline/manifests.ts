import {
  type CollectionTag,
  type Document,
  isAlias,
  isCollection,
  isNode,
  isScalar,
  LineCounter,
  type Node,
  parseAllDocuments,
  type ScalarTag,
  type Tags,
  visit,
} from 'yaml';
import { type BoundedTask, type BoundedTasks, runTwice } from '../base/bounded-task';
import { isObject } from '../base/is-object';
import { isPlainYaml } from '../base/plain-yaml';
import { safeInteger } from '../runtime/json';
import type { Path } from './field-path';
import { lineAt, lineIn, type Lines, linesOf } from './lines';
import { syntaxMessage } from './syntax-messages';

/** An object of a manifest. */
export interface Manifest {
  readonly file: string;
  /** The object as the API server would read it; integers beyond 2^53 are marked (runtime/json.ts). */
  readonly object: Readonly<Record<string, unknown>>;
  /** The line of a field, or of its nearest ancestor that exists. The path `[]` stands for the object. */
  readonly lineOf: (path: Path) => number;
}

/** A text, or a part of it, that cannot be read. */
export interface SyntaxProblem {
  readonly file: string;
  readonly line: number;
  /** The problem, as a sentence. */
  readonly message: string;
}

/** Types of YAML 1.1 that kubectl does not support: it reads times and dates as strings. */
const isTime = (tag: CollectionTag | ScalarTag): boolean =>
  ('format' in tag && tag.format === 'TIME') || tag.tag === 'tag:yaml.org,2002:timestamp';

/**
 * A number with an exponent. kubectl requires a digit before the `e`, unlike this library: it reads `e5` as a
 * string.
 */
const WITH_EXPONENT = /^[-+]?(\d[\d_]*(\.[\d_]*)?|\.\d[\d_]*)[eE][-+]?\d+$/;

const isExponent = (tag: Tags[number]): tag is ScalarTag =>
  typeof tag === 'object' && 'format' in tag && tag.format === 'EXP';

/** The types of YAML 1.1 as kubectl reads them. */
const typesOfKubectl = (tags: Tags): Tags =>
  tags
    .filter((tag) => typeof tag === 'string' || !isTime(tag))
    .map((tag) => (isExponent(tag) ? { ...tag, test: WITH_EXPONENT } : tag));

/** Options to read a text as kubectl reads it. {@link numbersOfJson} converts the numbers afterwards. */
export const kubectlReading = {
  version: '1.1',
  customTags: typesOfKubectl,
  intAsBigInt: true,
} as const;

/**
 * A reviver that converts integers, which this library reads as `bigint`, to numbers, or to marked texts
 * beyond 2^53.
 */
export const numbersOfJson = (_: unknown, part: unknown): unknown =>
  typeof part === 'bigint' ? safeInteger(part) : part;

/** An object of a text, with the lines of its parts. */
interface Parsed {
  readonly object: Manifest['object'];
  readonly lines: Lines;
}

/**
 * The objects in a text, read as kubectl reads it: YAML 1.1 with several documents, or JSON. The items of a
 * `List` are returned instead of the list.
 */
export const readManifests = (file: string, content: string): (Manifest | SyntaxProblem)[] =>
  manifestsOf(file, parseManifests(content));

/** {@link readManifests} for a text that may cost more to parse than its length suggests. */
export async function readManifestsWithin(
  texts: BoundedTasks,
  file: string,
  content: string,
): Promise<(Manifest | SyntaxProblem)[]> {
  const read = await runTwice(texts, manifestsTask, content, '');
  if (read.type === 'ended') {
    const message = `The file takes more ${read.exceeded} to read than a file may: write its anchors, aliases and merges out, or split it.`;
    return [{ file, line: 1, message }];
  }
  return manifestsOf(file, read.output);
}

const manifestsOf = (file: string, parsed: ReturnType<typeof parseManifests>): (Manifest | SyntaxProblem)[] =>
  parsed.map((each) =>
    'message' in each
      ? { file, ...each }
      : { file, object: each.object, lineOf: (path) => lineAt(each.lines, path) },
  );

export const manifestsTask: BoundedTask<string, (Parsed | Omit<SyntaxProblem, 'file'>)[]> = {
  name: 'parseManifests',
  run: parseManifests,
  inPlace: (content) => (isPlainYaml(content) ? parseManifests(content) : undefined),
};

/**
 * Characters that Go's YAML parser refuses, and characters that it takes for line breaks even within quotes
 * and comments.
 */
const NOT_FOR_KUBECTL = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ufffe\uffff]/;

/**
 * Reports a character that this library reads differently from kubectl. A text that begins like JSON is read
 * as JSON, where such characters are allowed.
 */
function problemOfCharacter(content: string): Omit<SyntaxProblem, 'file'> | undefined {
  const found = /^\ufeff?\s*\{/.test(content) ? null : NOT_FOR_KUBECTL.exec(content);
  if (!found) return undefined;
  const code = found[0].charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
  const effect = /[\x85\u2028\u2029]/.test(found[0]) ? 'takes for a line break' : 'refuses';
  return {
    line: content.slice(0, found.index).split('\n').length,
    message: `The character U+${code} is in the text, which kubectl ${effect}: write it as "\\u${code}" in double quotes, or remove it.`,
  };
}

const NULL_KEY =
  'A key is null, or has no text, which kubectl refuses: write the word null in quotes, or correct it.';
const COLLECTION_KEY =
  "A key is a list or an object, which kubectl refuses: write a template, such as {{ states('sensor.a') }}, in quotes, or correct it.";

/**
 * The first key that kubectl refuses, and a sentence about it. This library would read null as an empty text, and a list or
 * an object as its own text: a template without quotes is an object with an object as its key.
 */
function refusedKeyIn(document: Document): { readonly key: Node; readonly message: string } | undefined {
  let found: ReturnType<typeof refusedKeyIn>;
  visit(document, {
    Pair(_, { key }) {
      const value = isAlias(key) ? key.resolve(document) : key;
      const isNull = isScalar(value) && value.value === null;
      if (!isNode(key) || !(isNull || isCollection(value))) return undefined;
      found = { key, message: isNull ? NULL_KEY : COLLECTION_KEY };
      return visit.BREAK;
    },
  });
  return found;
}

function parseManifests(content: string): (Parsed | Omit<SyntaxProblem, 'file'>)[] {
  const problem = problemOfCharacter(content);
  if (problem) return [problem];
  const lines = new LineCounter();
  const lineOf = lineIn(lines);
  const documents = parseAllDocuments(content, {
    ...kubectlReading,
    lineCounter: lines,
    prettyErrors: false,
  });
  return [...documents].flatMap((document): ReturnType<typeof parseManifests> => {
    const [error] = document.errors;
    const syntaxProblem = (line: number, message: string) => [{ line, message }];
    if (error) return syntaxProblem(lines.linePos(error.pos[0]).line, syntaxMessage(error));
    const root = document.contents;
    let value: unknown;
    let all: Lines;
    try {
      const refused = refusedKeyIn(document);
      if (refused) return syntaxProblem(lineOf(refused.key), refused.message);
      value = document.toJS({ reviver: numbersOfJson });
      all = linesOf(root, lineOf(root), { lineOf });
    } catch (reason) {
      return syntaxProblem(lineOf(root), syntaxMessage(reason));
    }
    if (!isObject(value)) return [];
    const { items, kind } = value;
    if (!Array.isArray(items) || !String(kind).endsWith('List')) return [{ object: value, lines: all }];
    const ofItems = all.parts?.get('items');
    return items.flatMap((item, index) =>
      isObject(item) ? [{ object: item, lines: ofItems?.parts?.get(String(index)) ?? ofItems ?? all }] : [],
    );
  });
}
