import { Environment, type ParseResult } from '@marcbachmann/cel-js';
import Ajv, { type ErrorObject, type FuncKeywordDefinition, type ValidateFunction } from 'ajv';
import { isObject } from '../base/is-object';
import type { KindDefinition } from '../kinds/kind';
import { objectSchema } from '../kinds/object-schema';
import type { CelRule, Schema } from '../kinds/schema';
import { unsafeIntegers } from '../runtime/json';
import { fieldOf, type Path } from './field-path';
import { intendedField } from './misnamed-fields';
import { truncate } from '../base/truncate';

/** A problem for which the API server would reject an object. */
interface Problem {
  readonly path: Path;
  /** A sentence that does not repeat the field. */
  readonly message: string;
}

interface Checked {
  /** The object as the API server would store it: with defaults, and without fields that are null. */
  readonly object: Readonly<Record<string, unknown>>;
  readonly problems: readonly Problem[];
  /** Whether all fields have the right types, so that other rules can be applied. */
  readonly isTyped: boolean;
  /** Whether the types are right and no CEL rule is violated. Unknown fields are tolerated. */
  readonly isValid: boolean;
}

const NAME = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const text: Schema = { type: 'string' };
const texts: Schema = { type: 'object', additionalProperties: text };
const anything: Schema = { 'x-kubernetes-preserve-unknown-fields': true };

/**
 * Fields of metadata that a person writes or that `kubectl get -o yaml` shows. A CRD does not contain their
 * schema.
 */
const metadata = {
  type: 'object',
  properties: {
    name: { ...text, pattern: `^${NAME}(\\.${NAME})*$`, maxLength: 253 },
    namespace: { ...text, pattern: `^${NAME}$`, maxLength: 63 },
    labels: texts,
    annotations: texts,
    finalizers: { type: 'array', items: text },
    ...Object.fromEntries(
      ['creationTimestamp', 'deletionGracePeriodSeconds', 'deletionTimestamp', 'generateName', 'generation']
        .concat(['managedFields', 'ownerReferences', 'resourceVersion', 'selfLink', 'uid'])
        .map((field) => [field, anything]),
    ),
  },
  required: ['name'],
} as unknown as Schema;

const validators = new Map<string, ValidateFunction>();

/**
 * Checks an object with the schema and the CEL rules of its CRD, like a creation with strict field
 * validation.
 */
export function checkSchema(definition: KindDefinition, given: object): Checked {
  const { kind } = definition;
  const schema = objectSchema(definition);
  const whole = {
    ...schema,
    properties: { ...schema.properties, metadata, status: anything },
    required: [...schema.required, 'metadata'],
  } as unknown as Schema;
  const object = withoutNulls(whole, given) as Checked['object'];
  const validate = validators.get(kind) ?? ajv.compile(strict(whole));
  validators.set(kind, validate);
  validate(object);
  const errors = validate.errors ?? [];
  // If alternatives fail, the API server names the field of the first one.
  const typed = errors.filter(
    ({ keyword, schemaPath }) => isOfType(keyword) && keyword !== 'anyOf' && !/anyOf\/[1-9]/.test(schemaPath),
  );
  const unknown = errors.filter(({ keyword }) => keyword === 'additionalProperties');
  // Like the API server, rules are evaluated only if all types are right.
  const rules = typed.length > 0 ? [] : errors.filter(({ keyword }) => keyword === CEL);
  // A required field that was written under a wrong name is reported once, as the wrong name.
  const misnamed = new Set(unknown.map((error) => absentField(error, kind)));
  const problems = [...typed, ...unknown, ...rules].map((error) => problemOf(error, object, kind));
  return {
    object,
    problems: problems.filter(({ path }) => !misnamed.has(fieldOf(path))),
    isTyped: typed.length === 0,
    isValid: typed.length === 0 && rules.length === 0,
  };
}

const isOfType = (keyword: string): boolean => keyword !== CEL && keyword !== 'additionalProperties';

const CEL = 'x-kubernetes-validations';
const LIST_MAP = 'x-kubernetes-list-map-keys';

const ajv = new Ajv({
  allErrors: true,
  strict: false,
  verbose: true, // an error then contains the neighbours of an unknown field
  useDefaults: true,
  validateFormats: false, // formats occur in status only
})
  .addKeyword(keyword(CEL, brokenRules))
  .addKeyword(keyword(LIST_MAP, duplicates));

type KeywordError = Pick<ErrorObject, 'message'> & { readonly params: { readonly at: Path } };

/** Adds a keyword of Kubernetes to ajv. It is checked after all standard keywords. */
function keyword<Value>(
  name: string,
  errorsOf: (value: Value, data: unknown) => KeywordError[],
): FuncKeywordDefinition {
  const validate: FuncKeywordDefinition['validate'] = (value: Value, data: unknown) => {
    const errors = errorsOf(value, data);
    validate!.errors = errors.map((error) => ({ keyword: name, ...error }));
    return errors.length === 0;
  };
  return { keyword: name, post: true, errors: true, validate };
}

const cel = new Environment().registerVariable('self', 'dyn');
const compiled = new Map<string, ParseResult>();

function brokenRules(rules: readonly CelRule[], self: unknown): KeywordError[] {
  return rules
    .filter(({ rule }) => !rule.includes('oldSelf') && !holds(rule, self)) // oldSelf rules are for updates
    .map(({ message, fieldPath = '' }) => ({
      message: `${message}.`,
      params: { at: fieldPath.split('.').slice(1) },
    }));
}

function holds(rule: string, self: unknown): boolean {
  const evaluate = compiled.get(rule) ?? cel.parse(rule);
  compiled.set(rule, evaluate);
  try {
    return evaluate({ self }) === true;
  } catch {
    return false; // an error of evaluation rejects the object too
  }
}

/** @param keys an empty list compares items as a whole */
function duplicates(keys: readonly string[], items: unknown): KeywordError[] {
  if (!Array.isArray(items)) return [];
  const seen = new Set<string>();
  return items.flatMap((item, index) => {
    const values = keys.length === 0 ? [item] : keys.map((key) => (isObject(item) ? item[key] : undefined));
    const before = seen.size;
    seen.add(JSON.stringify(values));
    if (seen.size > before) return [];
    const what = values.map(shown).join(', ');
    const message =
      keys.length === 0
        ? `another item is ${what} as well: remove one.`
        : `another item has the same ${keys.join(', ')} ${what}: remove one.`;
    return [{ message, params: { at: [index] } }];
  });
}

/** Converts a schema for ajv, so that an unknown field is an error. */
function strict(schema: Schema): Schema {
  // `nullable` is dropped: no value is null, except of fields that accept any type.
  const { additionalProperties, items, nullable: _, properties, ...rest } = schema;
  const isOpen = schema['x-kubernetes-preserve-unknown-fields'] === true;
  const named = properties && Object.entries(properties).map(([name, field]) => [name, strict(field)]);
  return {
    ...rest,
    ...(schema['x-kubernetes-int-or-string'] && { type: ['integer', 'string'] }),
    ...(schema['x-kubernetes-list-type'] === 'set' && { [LIST_MAP]: [] }),
    ...(named && { properties: Object.fromEntries(named) as NonNullable<Schema['properties']> }),
    ...(items && { items: strict(items) }),
    ...(schema.type === 'object' &&
      !isOpen && { additionalProperties: additionalProperties ? strict(additionalProperties) : false }),
  } as Schema;
}

/**
 * A copy without the null values that the API server drops, of fields that the schema names and that are not
 * nullable, and without those that it accepts of fields with a type.
 */
function withoutNulls(schema: Schema | undefined, value: unknown): unknown {
  if (Array.isArray(value)) return Array.from(value, (item) => withoutNulls(schema?.items, item));
  if (!isObject(value)) return value;
  const fields = Object.entries(value).flatMap(([name, part]) => {
    const field = schemaOf(schema, name);
    return part === null && field && (!field.nullable || field.type)
      ? []
      : [[name, withoutNulls(field, part)]];
  });
  return Object.fromEntries(fields) as object;
}

function schemaOf(schema: Schema | undefined, name: string): Schema | undefined {
  const { additionalProperties, properties = {} } = schema ?? {};
  return Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
}

const stepsOf = ({ instancePath }: ErrorObject): string[] =>
  instancePath
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));

function problemOf(error: ErrorObject, object: Checked['object'], kind: string): Problem {
  const { keyword: name, message, params, parentSchema } = error;
  const path = stepsOf(error);
  const at = (...steps: Path): Path => [...path, ...steps];
  const given = path.reduce<unknown>((part, step) => (part as Record<string, unknown>)[step], object);
  switch (name) {
    case CEL:
    case LIST_MAP:
      return { path: at(...(params['at'] as Path)), message: message! };
    case 'required':
      return { path: at(params['missingProperty'] as string), message: 'is required: add it.' };
    case 'additionalProperties':
      return { path: at(params['additionalProperty'] as string), message: noSuchField(error, kind) };
    case 'enum':
      return {
        path,
        message: `${shown(given)} is not supported: use ${(params['allowedValues'] as []).join(', ')}.`,
      };
    case 'type':
      return {
        path,
        message: typeMessage(
          given,
          [params['type'] as string | readonly string[]].flat(),
          (parentSchema?.[LIST_MAP] ?? []) as readonly string[],
        ),
      };
    case 'pattern':
      return { path, message: `${shown(given)} does not match ${params['pattern']}: correct it.` };
    default:
      // Like the API server, the message does not quote a text or an object of the wrong size, which may be a
      // secret.
      return {
        path,
        message: `${typeof given === 'number' ? `${given} ` : ''}${message?.replace('NOT', 'not')}.`,
      };
  }
}

function noSuchField(error: ErrorObject, kind: string): string {
  const intended = intendedBy(error, kind);
  const wayOut = intended === undefined ? 'remove it, or correct its name.' : `did you mean ${intended}?`;
  return `${kind} has no such field: ${wayOut}`;
}

/** The required field that is missing because an unknown field was written instead. */
function absentField(error: ErrorObject, kind: string): string | undefined {
  const intended = intendedBy(error, kind);
  const isThere = intended === undefined || Object.hasOwn(error.data as object, intended);
  return isThere ? undefined : fieldOf([...stepsOf(error), intended]);
}

/** The field that an unknown one was probably meant to be. */
function intendedBy({ params, parentSchema }: ErrorObject, kind: string): string | undefined {
  const known = Object.keys((parentSchema as Schema | undefined)?.properties ?? {});
  return intendedField(kind, params['additionalProperty'] as string, known);
}

/**
 * The message about a wrong type. It does not quote the value, which may be a secret in the wrong place.
 *
 * @param keys keys of an item of a list
 */
function typeMessage(value: unknown, allowed: readonly string[], keys: readonly string[]): string {
  const type = typeOf(value);
  if (allowed.includes(type)) return `is the integer ${digitsOf(value)}, which is beyond 2^53: correct it.`;
  const hints = [
    allowed.includes('string') && typeof value !== 'object' && ': quote it',
    allowed.includes('array') && isObject(value) && listHint(keys),
  ];
  return `is ${withArticle(type)} and must be ${allowed.map(withArticle).join(' or ')}${hints.find(Boolean) || ''}.`;
}

const listHint = (keys: readonly string[]): string =>
  keys.length > 0
    ? `: write each entry as an item that begins with “- ${keys[0]}:”`
    : ': write “- ” before it, as an item';

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) || digitsOf(value) !== undefined ? 'integer' : typeof value;
}

/** The digits of an integer beyond 2^53, which is read as a marked text (runtime/json.ts). */
const digitsOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? unsafeIntegers(value, '')[0]?.digits : undefined;

function withArticle(type: string): string {
  return type === 'null' ? type : `${/^[aio]/.test(type) ? 'an' : 'a'} ${type}`;
}

/**
 * A short text for a value: JSON, truncated, of a string, a number or a boolean; the type of any other value.
 */
function shown(value: unknown): string {
  if (typeof value === 'object') return withArticle(typeOf(value));
  const json = digitsOf(value) ?? JSON.stringify(value) ?? '';
  return truncate(json, 60);
}
