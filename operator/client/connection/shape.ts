import { isObject } from '../../base/is-object';
import { HubFailed } from './errors';

// A shape describes the part of an answer that the operator uses. Fields that the operator does not use are
// not described, so that hubs of other versions may have more or fewer of them.

/** A value with another shape. `at` is its place, such as `[0].id`; empty for the whole answer. */
interface Mismatch {
  readonly at: string;
  readonly expected: string;
  readonly found: string;
}

/** A value that can be part of a message. */
type Scalar = string | number | boolean | null;

/** Checks that a value is a `T`. @returns the first place that is not; undefined if there is none */
export interface Shape<out T> {
  (value: unknown): Mismatch | undefined;
  /** Only for the type checker: it is never set. */
  readonly of?: T;
}

/** The type of the values that a shape describes. */
export type Of<S> = S extends Shape<infer T> ? T : never;

type Shapes = Readonly<Record<string, Shape<unknown>>>;
type MayBeAbsent<S> = undefined extends Of<S> ? true : false;

/** The type of an object with fields of these shapes. Fields that may be missing are optional. */
export type OfFields<F> = {
  readonly [K in keyof F as MayBeAbsent<F[K]> extends true ? never : K]: Of<F[K]>;
} & { readonly [K in keyof F as MayBeAbsent<F[K]> extends true ? K : never]?: Of<F[K]> };

const matched =
  <T>(expected: string, matches: (value: unknown) => boolean): Shape<T> =>
  (value) =>
    matches(value) ? undefined : { at: '', expected, found: nameOf(value) };

const within = (place: string, mismatch: Mismatch | undefined): Mismatch | undefined =>
  mismatch && { ...mismatch, at: `${place}${mismatch.at}` };

const isText = (value: unknown): boolean => typeof value === 'string';
export const text = matched<string>('a text', isText);
/** One of several known words. Code that compares the word must tolerate an unknown one. */
export const word = <T extends string>(): Shape<T> => matched('a text', isText);
/** A name that data is stored under. `__proto__` is refused, since it has a special meaning in JavaScript. */
export const fieldName = matched<string>(
  'the name of a field',
  (value) => typeof value === 'string' && value !== '__proto__',
);
export const number = matched<number>('a number', (value) => typeof value === 'number');
export const length = matched<number>('a length', (value) => Number.isInteger(value) && Number(value) >= 0);
export const scalar = matched<Scalar>('a text', (value) => !(value instanceof Object));
export const time = matched<string>(
  'a time',
  (value) => typeof value === 'string' && !Number.isNaN(Date.parse(value)),
);
/**
 * A field of any type: it is only compared or passed on, or the code that reads it checks the type itself.
 */
export const unchecked =
  <T = unknown>(): Shape<T> =>
  () =>
    undefined;
/** A boolean. Values of other types count as truthy or falsy. */
export const flag = unchecked<boolean>();
export const anyObject = matched<Readonly<Record<string, unknown>>>('an object', isObject);
const anyList = matched<readonly unknown[]>('a list', Array.isArray);

/** An object with these fields, and possibly others. */
export function object<F extends Shapes>(fields: F): Shape<OfFields<F>> {
  const known = Object.entries(fields);
  return (value) => {
    const mismatch = anyObject(value);
    if (mismatch) return mismatch;
    for (const [name, shape] of known) {
      const inner = within(`.${name}`, shape((value as Readonly<Record<string, unknown>>)[name]));
      if (inner) return inner;
    }
    return undefined;
  };
}

export function list<T>(item: Shape<T>): Shape<readonly T[]> {
  return (value) => {
    if (!Array.isArray(value)) return anyList(value);
    for (const [index, each] of value.entries()) {
      const inner = within(`[${index}]`, item(each));
      if (inner) return inner;
    }
    return undefined;
  };
}

/** An object with any keys. Messages do not contain the keys, which are texts of the hub. */
export function record<T>(item: Shape<T>): Shape<Readonly<Record<string, T>>> {
  return (value) => {
    const mismatch = anyObject(value);
    if (mismatch) return mismatch;
    for (const each of Object.values(value as object)) {
      const inner = within('.*', item(each));
      if (inner) return inner;
    }
    return undefined;
  };
}

/** A field that may be missing. */
export const optional =
  <T>(shape: Shape<T>): Shape<T | undefined> =>
  (value) =>
    value === undefined ? undefined : shape(value);

export const nullable =
  <T>(shape: Shape<T>): Shape<T | null> =>
  (value) =>
    value === null ? undefined : shape(value);

/** One of several objects, which are distinguished by their field `type`. */
export function byType<S extends Shapes>(
  shapes: S,
): Shape<{ [K in keyof S]: { readonly type: K } & Of<S[K]> }[keyof S]> {
  const known = object({
    type: matched(
      `one of ${Object.keys(shapes).join(', ')}`,
      (type) => typeof type === 'string' && Object.hasOwn(shapes, type),
    ),
  });
  return (value) => known(value) ?? shapes[(value as { readonly type: string }).type]!(value);
}

/**
 * Returns the answer to `request` if it has the shape.
 *
 * @throws HubFailed
 */
export function checked<T>(request: string, answer: unknown, shape: Shape<T>): T {
  const mismatch = shape(answer);
  if (!mismatch) return answer as T;
  const { at, expected, found } = mismatch;
  throw new HubFailed(
    `the hub answered ${request} with ${found} instead of ${expected}${at && ` at ${at.replace(/^\./, '')}`}`,
  );
}

/** A description of a value for messages. It contains no text of the hub, which may be long or secret. */
function nameOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : typeof value === 'string' ? 'a text' : `a ${typeof value}`;
}
