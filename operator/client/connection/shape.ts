import { isObject } from '../../base/is-object';
import { HubFailed } from './errors';

// The form that the operator expects of an answer: as far as it uses it, so that a hub of another version may say more or less.

/** A place of an answer that has another form: `[0].id`, empty for the whole answer. */
interface Mismatch {
  readonly at: string;
  readonly expected: string;
  readonly found: string;
}

/** A value that can be part of a text. */
export type Scalar = string | number | boolean | null;

/** Finds the first place of a value that is no `T`. */
export interface Shape<out T> {
  (value: unknown): Mismatch | undefined;
  /** Never there: for the compiler. */
  readonly of?: T;
}

/** Whether code that is given another value than this type says can fail. */
type NeedsShape<V> = unknown extends V ? false : [V] extends [boolean | null | undefined] ? false : true;

/** The compiler asks for the shape of each field of the type, but for those of any value and booleans. */
export type Fields<T> = { readonly [K in keyof T]?: Shape<T[K]> } & {
  readonly [K in keyof T as NeedsShape<T[K]> extends true ? K : never]-?: Shape<T[K]>;
};
type FieldsOf<T> = object extends Fields<T> ? [fields?: NoInfer<Fields<T>>] : [fields: NoInfer<Fields<T>>];

const matched =
  (expected: string, matches: (value: unknown) => boolean): Shape<never> =>
  (value) =>
    matches(value) ? undefined : { at: '', expected, found: nameOf(value) };

const within = (place: string, mismatch: Mismatch | undefined): Mismatch | undefined =>
  mismatch && { ...mismatch, at: `${place}${mismatch.at}` };

export const text: Shape<string> = matched('a text', (value) => typeof value === 'string');
/** A text of several known ones. Another text counts as none of them. */
export const word = matched('a text', (value) => typeof value === 'string');
/** A name that data is stored under. To JavaScript, `__proto__` is another one. */
export const fieldName: Shape<string> = matched(
  'the name of a field',
  (value) => typeof value === 'string' && value !== '__proto__',
);
export const number: Shape<number> = matched('a number', (value) => typeof value === 'number');
export const length: Shape<number> = matched(
  'a length',
  (value) => Number.isInteger(value) && Number(value) >= 0,
);
export const scalar: Shape<Scalar> = matched('a text', (value) => !(value instanceof Object));
export const time: Shape<string> = matched(
  'a time',
  (value) => typeof value === 'string' && !Number.isNaN(Date.parse(value)),
);
/** The field is compared or passed on, or the code that reads it looks at its type itself: a hub may send any value. */
export const anything: Shape<never> = () => undefined;
const anyObject = matched('an object', isObject);
const anyList = matched('a list', Array.isArray);

/** An object with these fields, and others. */
export function object<T extends object>(...[fields]: FieldsOf<T>): Shape<T> {
  const known = Object.entries<Shape<unknown>>(fields ?? {});
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

export function list<T>(item: Shape<T>): Shape<T[]> {
  return (value) => {
    if (!Array.isArray(value)) return anyList(value);
    for (const [index, each] of value.entries()) {
      const inner = within(`[${index}]`, item(each));
      if (inner) return inner;
    }
    return undefined;
  };
}

/** An object with any keys, which are texts of the hub: no message names them. */
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

/** The field may be missing. */
export const optional =
  <T>(shape: Shape<T>): Shape<T | undefined> =>
  (value) =>
    value === undefined ? undefined : shape(value);

export const nullable =
  <T>(shape: Shape<T>): Shape<T | null> =>
  (value) =>
    value === null ? undefined : shape(value);

type OfType<T, K> = T extends { readonly type: infer Types } ? (K extends Types ? T : never) : never;

/** One of several objects that their field `type` tells apart. */
export function byType<T extends { readonly type: string }>(shapes: {
  readonly [K in T['type']]: Shape<Omit<OfType<T, K>, 'type'>>;
}): Shape<T> {
  const known = object<{ readonly type: string }>({
    type: matched(
      `one of ${Object.keys(shapes).join(', ')}`,
      (type) => typeof type === 'string' && Object.hasOwn(shapes, type),
    ),
  });
  return (value) => known(value) ?? shapes[(value as T).type as T['type']](value);
}

/**
 * Returns the answer to `request` if it has that form.
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

/** No text of the hub, which may be long or secret. */
function nameOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : typeof value === 'string' ? 'a text' : `a ${typeof value}`;
}
