import Ajv, { type ErrorObject, type ValidateFunction } from 'ajv';
import { isObject } from '../../../operator/base/is-object';
import { truncate } from '../../../operator/base/truncate';
import type { Path } from '../../../operator/offline/field-path';
import { intendedName } from './intended-name';
import { patternMessages, patterns } from './patterns';
import { type JsonSchema, testFileSchema } from './schema';

/** A problem in a test file. */
export interface Problem {
  readonly path: Path;
  /** A sentence that does not repeat the field. */
  readonly message: string;
}

let validate: ValidateFunction | undefined;

/** The problems that the schema finds in the value of a test file. */
export function checkTestFile(value: unknown): Problem[] {
  if (value === null) return [{ path: [], message: `The file is empty: ${FIRST_LINES}` }];
  if (!isObject(value)) return [{ path: [], message: `The file is ${typeOf(value)}: ${FIRST_LINES}` }];
  const { hubtest } = value;
  if (hubtest === undefined)
    return [{ path: ['hubtest'], message: 'is required: write hubtest: v1 as the first line.' }];
  if (hubtest !== 'v1')
    return [{ path: ['hubtest'], message: `${shown(hubtest)} is not supported by this version: write v1.` }];
  validate ??= new Ajv({ allErrors: true, strict: false, verbose: true }).compile(testFileSchema);
  validate(value);
  const errors = validate.errors ?? [];
  // A required field that was written under a wrong name is reported once, as the wrong name.
  const misnamed = new Set(errors.map(absentField));
  return errors
    .filter(({ keyword }) => keyword !== 'propertyNames') // the error of the name itself is more precise
    .flatMap((error) => problemOf(error) ?? [])
    .filter(({ path }) => !misnamed.has(path.join('/')));
}

const FIRST_LINES = 'begin it with hubtest: v1, and list the cases in tests.';

function problemOf(error: ErrorObject): Problem | undefined {
  const { data: given, keyword, params, propertyName } = error;
  const path = stepsOf(error);
  if (propertyName !== undefined)
    return { path: [...path, propertyName], message: nameProblem(propertyName, params['pattern'] as string) };
  switch (keyword) {
    case 'required':
      return { path: [...path, params['missingProperty'] as string], message: 'is required: add it.' };
    case 'additionalProperties': {
      const unknown = params['additionalProperty'] as string;
      return { path: [...path, unknown], message: unknownField(unknown, error) };
    }
    case 'maxProperties':
      return severalVerbs(path, error);
    case 'minProperties':
    case 'minItems':
      return { path, message: emptyMessage(path) };
    case 'type':
      return { path, message: typeMessage(given, [params['type'] as string | string[]].flat()) };
    case 'enum':
      return {
        path,
        message: `${shown(given)} is not supported: use ${(params['allowedValues'] as []).join(', ')}.`,
      };
    case 'pattern':
      return {
        path,
        message: `${shown(given)} is not understood. ${patternMessages[params['pattern'] as string]}`,
      };
    case 'exclusiveMinimum':
      return { path, message: `${shown(given)} is too short: write more than 0.` };
    default:
      return {
        path,
        message: `${typeof given === 'number' ? `${given} ` : ''}${error.message}: correct it.`,
      };
  }
}

const nameProblem = (name: string, pattern: string): string =>
  `${shown(name)} is no ${pattern === patterns.entity ? 'id of an entity or action' : 'name'}. ${patternMessages[pattern]}`;

function unknownField(unknown: string, { parentSchema }: ErrorObject): string {
  if (unknown === '<<') return 'YAML 1.2 has no merge keys: write the fields out.';
  const known = Object.keys((parentSchema as JsonSchema).properties ?? {});
  const intended = intendedName(unknown, known);
  return `There is no such field here: ${intended === undefined ? `use ${known.join(', ')}.` : `did you mean ${intended}?`}`;
}

/** @returns undefined for fewer than two verbs: other keys are reported as unknown fields */
function severalVerbs(path: Path, { data: given, parentSchema }: ErrorObject): Problem | undefined {
  const known = Object.keys((parentSchema as JsonSchema).properties ?? {});
  const verbs = Object.keys(given as object).filter((each) => known.includes(each));
  if (verbs.length < 2) return undefined;
  return { path, message: `The step has the verbs ${verbs.join(' and ')}: write a step for each.` };
}

function emptyMessage(path: Path): string {
  const field = path.at(-1);
  if (field === 'calls') return 'is empty: write only: true if no call is expected.';
  if (field === 'none') return 'is empty: list the calls that must not be made, or write only: true for all.';
  if (field === 'expect')
    return 'expects nothing: write calls, only, none or states; to let time go by, write advance.';
  if (field === 'tests') return 'is empty: add a case.';
  if (field === 'steps') return 'is empty: add a step.';
  if (path.at(-2) === 'steps') return 'is empty: write one of set, fire, call, advance, at, restart, expect.';
  return 'is empty: add an entry, or remove it.';
}

function typeMessage(given: unknown, allowed: readonly string[]): string {
  const hint =
    typeof given === 'boolean' && allowed.includes('string')
      ? `: write "${given ? 'on' : 'off'}", or "${given}" in quotes if that is the text`
      : allowed.includes('string') && given === null
        ? ': write a value, or remove it'
        : allowed.includes('string') && typeof given !== 'object'
          ? ': quote it'
          : typeof given === 'string' && /^[-+]?[\d.]+$/.test(given) && allowed.includes('number')
            ? ': remove the quotes'
            : allowed.includes('array') && isObject(given)
              ? ': write “- ” before it, as an item'
              : '';
  return `is ${typeOf(given)} and must be ${allowed.map(withArticle).join(' or ')}${hint || ': correct it'}.`;
}

/** The required field that is missing because an unknown field was written instead. */
function absentField(error: ErrorObject): string | undefined {
  const { keyword, parentSchema, params, data: given } = error;
  if (keyword !== 'additionalProperties') return undefined;
  const known = Object.keys((parentSchema as JsonSchema).properties ?? {});
  const intended = intendedName(params['additionalProperty'] as string, known);
  if (intended === undefined || Object.hasOwn(given as object, intended)) return undefined;
  return [...stepsOf(error), intended].join('/');
}

/** The path of an error, in which items of lists have their number. */
const stepsOf = ({ instancePath }: ErrorObject): Path =>
  instancePath
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((step) => (/^\d+$/.test(step) ? Number(step) : step));

function typeOf(value: unknown): string {
  if (value === null) return 'empty';
  if (typeof value === 'boolean') return `the boolean ${value}`;
  return withArticle(Array.isArray(value) ? 'array' : typeof value);
}

const NOUNS: Readonly<Record<string, string>> = { array: 'list', string: 'text', integer: 'whole number' };

function withArticle(type: string): string {
  const noun = NOUNS[type] ?? type;
  return noun === 'null' ? 'empty' : `${/^[aio]/.test(noun) ? 'an' : 'a'} ${noun}`;
}

/** A short text for a value: truncated JSON, or the type of an object. */
export function shown(value: unknown): string {
  return typeof value === 'object' ? typeOf(value) : truncate(JSON.stringify(value) ?? '', 60);
}
