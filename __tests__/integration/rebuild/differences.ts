import { isDeepStrictEqual } from 'node:util';

/** A value that one home has and the other has not. */
export interface Difference {
  /** `entity/light.a/name` */
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** The differences of two snapshots, in the order of their paths. */
export function differencesOf(before: unknown, after: unknown, path = ''): Difference[] {
  if (isDeepStrictEqual(before, after)) return [];
  if (!isObject(before) || !isObject(after)) return [{ path, before, after }];
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return names.flatMap((name) =>
    differencesOf(before[name], after[name], path === '' ? name : `${path}/${name}`),
  );
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
