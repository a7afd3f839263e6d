import Ajv, { type ErrorObject } from 'ajv';
import type { FormField } from '../../connection/flow-step';
import type { Value } from './answer';
import { isDuration, type JsonSchema, schemaOf } from './schema';

/** The value that the field asks for, or why there is none: the end of a sentence that begins with the field. */
type Coerced = { readonly value: unknown } | { readonly problem: string };

const WORDS: Readonly<Record<string, boolean>> = {
  true: true,
  on: true,
  yes: true,
  false: false,
  off: false,
  no: false,
};

// Without a check of the schema, which is made here: that takes 14 ms for each field. A shared Ajv would keep each schema.
const OPTIONS = {
  coerceTypes: 'array',
  strict: false,
  allErrors: true,
  meta: false,
  validateSchema: false,
} as const;

const TIME = /^(\d+):([0-5]?\d)(?::([0-5]?\d))?$/;

/**
 * Converts a value to what a field of a form asks for: `"8"` to a number, `"on"` to a boolean, a text to a list of one, an
 * `HH:MM:SS` to a duration. The hub describes a `selector` exactly, so a value that does not fit one is refused here. Of
 * other types it may accept more than it says: a value that does not fit them is left to the hub as it is.
 *
 * A file has to be uploaded first: its value here is the id of the upload.
 */
export function coerce(field: FormField, value: Exclude<Value, { readonly type: 'file' }>): Coerced {
  const raw = value.type === 'text' ? value.text : value.value;
  const schema = schemaOf(field);
  // Ajv would make 0, false or an empty text of it.
  if (raw === null)
    return field.selector && !field.allow_none ? { problem: 'must not be null' } : { value: null };
  const isNumber = schema['type'] === 'integer' || schema['type'] === 'number';
  if (isNumber && isInexact(raw)) return { problem: 'must be a number that can be represented exactly' };
  const prepared = prepare(field, schema, raw);
  const holder = { value: structuredClone(prepared) };
  const validate = new Ajv(OPTIONS).compile({ type: 'object', properties: { value: schema } });
  if (validate(holder)) return { value: holder.value };
  return field.selector ? { problem: describe(validate.errors ?? []) } : { value: prepared };
}

function prepare(field: FormField, schema: JsonSchema, raw: unknown): unknown {
  if (typeof raw !== 'string') return raw;
  const text = raw.trim();
  if (schema['type'] === 'boolean') return WORDS[text.toLowerCase()] ?? raw;
  if (isDuration(field)) return duration(text) ?? raw;
  // The options of a select may be numbers.
  const options = schema['enum'] as readonly unknown[] | undefined;
  const option = options?.find((each) => typeof each !== 'string' && String(each) === text);
  return option ?? (schema['type'] === 'integer' || schema['type'] === 'number' ? text : raw);
}

function duration(text: string): Readonly<Record<string, number>> | undefined {
  if (/^\d+(\.\d+)?$/.test(text)) return { seconds: Number(text) };
  const match = TIME.exec(text);
  if (!match) return undefined;
  const [, hours, minutes, seconds = '0'] = match;
  return { hours: Number(hours), minutes: Number(minutes), seconds: Number(seconds) };
}

/** An integer beyond 2^53 would lose digits. */
function isInexact(raw: unknown): boolean {
  const number = typeof raw === 'string' && raw.trim() !== '' ? Number(raw) : raw;
  if (typeof number !== 'number' || Number.isNaN(number)) return false;
  return !Number.isFinite(number) || (Number.isInteger(number) && !Number.isSafeInteger(number));
}

/** Never the value: it may be a secret. */
function describe(errors: readonly ErrorObject[]): string {
  const texts = errors.map(({ keyword, message = 'is not valid', params }) =>
    keyword === 'enum'
      ? `must be one of ${(params as { allowedValues: readonly unknown[] }).allowedValues.join(', ')}`
      : message,
  );
  return [...new Set(texts)].join(', ');
}
