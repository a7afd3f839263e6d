import { isDeepStrictEqual } from 'node:util';
import { type Document, parseAllDocuments } from 'yaml';
import { isObject } from '../../operator/base/is-object';
import { kubectlReading, numbersOfJson } from '../../operator/offline/manifests';

/** The documents of a text as kubectl reads them, with the positions of their parts. */
export const asKubectl = (text: string): readonly Document.Parsed[] =>
  parseAllDocuments(text, {
    ...kubectlReading,
    keepSourceTokens: true,
    prettyErrors: false,
  }) as readonly Document.Parsed[];

/** The documents of a text as readers of YAML 1.2 read them, such as editors and converters. */
const asYaml12 = (text: string): readonly Document.Parsed[] =>
  parseAllDocuments(text, {
    version: '1.2',
    merge: true,
    intAsBigInt: true,
    prettyErrors: false,
  }) as readonly Document.Parsed[];

/** The value of a document in both readings. */
interface Readings {
  readonly kubectl: unknown;
  /** Undefined if the text is not valid YAML 1.2. */
  readonly yaml12: unknown;
}

/** The values of all documents of a text, in both readings. */
export function readingsOf(text: string): readonly Readings[] {
  const other = asYaml12(text);
  return asKubectl(text).map((document, index) => ({
    kubectl: valueOf(document),
    yaml12: other[index] && valueOf(other[index]),
  }));
}

/** The value of a document; undefined if it cannot be read. */
export function valueOf(document: Document.Parsed): unknown {
  if (document.errors.length > 0) return undefined;
  try {
    return plain(document.toJS({ reviver: numbersOfJson }));
  } catch {
    return undefined; // an alias, or a merge key for a value that cannot be merged
  }
}

export const isSame = (a: unknown, b: unknown): boolean => isDeepStrictEqual(plain(a), plain(b));

/** A text that is equal for equal values, regardless of the order of keys. */
export const fingerprint = (value: unknown): string =>
  JSON.stringify(value ?? null, (_, part: unknown) =>
    isObject(part) ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1))) : part,
  );

/** A copy of the value as JSON has it, without prototypes and undefined fields. */
export const plain = (value: unknown): unknown =>
  value === undefined ? undefined : (JSON.parse(JSON.stringify(value)) as unknown);
