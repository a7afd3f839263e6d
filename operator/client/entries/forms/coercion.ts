import Ajv, { type ErrorObject } from 'ajv';
import type { FormField } from '../../connection/flow-step';
import type { Value } from './answer';
import { isDuration, type JsonSchema, schemaOf } from './schema';

/**
 * The value for the field, or the reason why there is none, as the end of a sentence that begins with the
 * field.
 */
type Coerced = { readonly value: unknown } | { readonly problem: string };

const WORDS: Readonly<Record<string, boolean>> = {
  true: true,
  on: true,
  yes: true,
  false: false,
  off: false,
  no: false,
};

// Validation of the schemas themselves is off: it takes 14 ms for each field. A shared Ajv instance would
// keep every schema in memory.
const OPTIONS = {
  coerceTypes: 'array',
  strict: false,
  allErrors: true,
  meta: false,
  validateSchema: false,
} as const;

const TIME = /^(\d+):([0-5]?\d)(?::([0-5]?\d))?$/;

/**
 * Converts a value to the type that a field of a form requires: `"8"` to a number, `"on"` to a boolean, a
 * text to a list with one item, an `HH:MM:SS` to a duration. The hub describes a `selector` exactly, so a
 * value that does not match one is refused here. For other types the hub may accept more values than its
 * description says, so a value that does not match is passed on unchanged.
 *
 * The value for a file is the id of its upload.
 */
export function coerce(field: FormField, value: Exclude<Value, { readonly type: 'file' }>): Coerced {
  const raw = value.type === 'text' ? value.text : value.value;
  const schema = schemaOf(field);
  // Ajv would convert null to 0, false or an empty text.
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
  // The options of a select may be numbers: a text that equals one is converted.
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

/** Whether a value is a number that JavaScript cannot represent exactly, such as an integer beyond 2^53. */
function isInexact(raw: unknown): boolean {
  const number = typeof raw === 'string' && raw.trim() !== '' ? Number(raw) : raw;
  if (typeof number !== 'number' || Number.isNaN(number)) return false;
  return !Number.isFinite(number) || (Number.isInteger(number) && !Number.isSafeInteger(number));
}

/** Describes errors without the value, which may be a secret. */
function describe(errors: readonly ErrorObject[]): string {
  const texts = errors.map(({ keyword, message = 'is not valid', params }) =>
    keyword === 'enum'
      ? `must be one of ${(params as { allowedValues: readonly unknown[] }).allowedValues.join(', ')}`
      : message,
  );
  return [...new Set(texts)].join(', ');
}
