import { countValues, MAX_DEPTH, MAX_VALUES, tooMany } from '../base/bounded-json';
import type { CustomResource } from '../kinds/resource';
import { JsonEdits } from './json-edits';

/**
 * Prefix of a string that stands for an integer which a JavaScript number cannot represent; the digits
 * follow. It contains a private-use character, so that no key or value of a user begins with it.
 */
const MARK = '\u{F0000}integer:';

/**
 * A Kubernetes object with more keys and values is kept without its largest parts (rules.md, "Large
 * resources").
 */
export const MAX_OBJECT_VALUES = 25_000;
const MAX_PART_VALUES = 1_000;

/**
 * An integer of any size as a value for the rest of the operator. Beyond 2^53 it becomes a marked string,
 * which {@link unsafeIntegers} finds.
 */
export function safeInteger(value: bigint): number | string {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : `${MARK}${value}`;
}

/**
 * `JSON.parse`, except that integers beyond 2^53 are not rounded: each becomes a marked string, which {@link
 * unsafeIntegers} finds.
 *
 * @throws TooManyValues
 * @throws SyntaxError
 */
export function parseJson(text: string, maxValues = MAX_VALUES): unknown {
  return parse(Buffer.from(text), Infinity, maxValues);
}

/**
 * Parses a text with Kubernetes objects. In an object with more than {@link MAX_OBJECT_VALUES} keys and
 * values, the large parts of `metadata`, `spec` and `status` become empty, and its field `omitted` names
 * them.
 *
 * @param objectDepth nesting depth at which objects begin; 1 if the text is one object
 * @throws TooManyValues
 * @throws SyntaxError
 */
export function parseObjects(json: Buffer, objectDepth: number): unknown {
  return parse(json, objectDepth, MAX_VALUES);
}

function parse(json: Buffer, objectDepth: number, maxValues: number): unknown {
  const edits = new JsonEdits(json, {
    objectDepth,
    maxObjectValues: MAX_OBJECT_VALUES,
    maxPartValues: MAX_PART_VALUES,
    mark: MARK,
  });
  const values = countValues(json, Infinity, edits) - edits.omittedValues;
  if (values > maxValues) throw tooMany(maxValues);
  return JSON.parse(edits.apply().toString('utf8'));
}

interface UnsafeInteger {
  /** Path of the integer, such as `spec.actions[0].data.chat_id`. */
  readonly path: string;
  /** The digits as the API server wrote them. */
  readonly digits: string;
}

/**
 * Finds the integers beyond 2^53 in `value`, whose path is `path`: a JavaScript number cannot represent them.
 */
export function unsafeIntegers(value: unknown, path: string): UnsafeInteger[] {
  if (typeof value === 'string')
    return value.startsWith(MARK) ? [{ path, digits: value.slice(MARK.length) }] : [];
  if (Array.isArray(value)) return value.flatMap((item, index) => unsafeIntegers(item, `${path}[${index}]`));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, part]) => unsafeIntegers(part, `${path}.${key}`));
}

/** The message why a resource with this integer cannot be used (rules.md, "Numbers"). */
export function unsafeIntegerMessage({ path, digits }: UnsafeInteger): string {
  return `${path} is the integer ${digits}, which is beyond 2^53 and would lose digits. Quote it: "${digits}".`;
}

/** The message why a resource with omitted parts cannot be used; undefined if its content is complete. */
export function incompleteContent({ omitted = [], spec }: CustomResource): string | undefined {
  const large = omitted.filter((name) => name.startsWith('spec.'));
  if (large.length > 0)
    return `${large.join(' and ')} cannot be processed: a resource has at most ${MAX_OBJECT_VALUES} keys and values, nested at most ${MAX_DEPTH} deep. Split the resource into smaller ones.`;
  const [unsafe] = unsafeIntegers(spec, 'spec');
  return unsafe && unsafeIntegerMessage(unsafe);
}
