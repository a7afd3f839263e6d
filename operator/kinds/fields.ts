import type { CelRule, Schema } from './schema';

/** Constructors of common fields. */

export const text = (description: string) => ({ type: 'string', description }) as const satisfies Schema;

/** @param maxLength characters */
export const nonEmptyText = (maxLength: number, description: string) =>
  ({ type: 'string', description, minLength: 1, maxLength }) as const satisfies Schema;

/** @param maxLength characters */
export const textUpTo = (maxLength: number, description: string) =>
  ({ type: 'string', description, maxLength }) as const satisfies Schema;

/** The name of a Kubernetes object. */
export const objectName = (description: string) => nonEmptyText(253, description);

export const moment = (description: string) =>
  ({ type: 'string', format: 'date-time', description }) as const satisfies Schema;

/** A list that server-side apply treats as one value. */
export const atomicTexts = (description: string) =>
  ({
    type: 'array',
    description,
    items: { type: 'string' },
    'x-kubernetes-list-type': 'atomic',
  }) as const satisfies Schema;

export const int32 = (description: string) =>
  ({ type: 'integer', format: 'int32', description }) as const satisfies Schema;

export const int32Within = (minimum: number, maximum: number, description: string) =>
  ({ ...int32(description), minimum, maximum }) as const satisfies Schema;

export const flag = (description: string) => ({ type: 'boolean', description }) as const satisfies Schema;

export const flagWithDefault = <Default extends boolean>(value: Default, description: string) =>
  ({ ...flag(description), default: value }) as const satisfies Schema;

export const immutable = (message: string) =>
  ({ rule: 'self == oldSelf', message }) as const satisfies CelRule;
