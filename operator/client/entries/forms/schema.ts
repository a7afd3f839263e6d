import { isObject } from '../../../base/is-object';
import type { FormField } from '../../connection/flow-step';

/** A JSON schema, with the keywords that forms need. */
export type JsonSchema = Readonly<Record<string, unknown>>;

const TEXT: JsonSchema = { type: 'string' };
const ANY: JsonSchema = {};

/** Selectors whose value is a text, or with `multiple` a list of texts. */
const TEXT_SELECTORS: ReadonlySet<string> = new Set(
  (
    'addon app area assist_pipeline attribute backup_location config_entry conversation_agent country ' +
    'date datetime device entity file floor icon label language serial_port state statistic stt template ' +
    'text theme time tts'
  ).split(' '),
);

const DURATION: JsonSchema = {
  type: 'object',
  properties: Object.fromEntries(
    ['days', 'hours', 'minutes', 'seconds', 'milliseconds'].map((unit) => [unit, { type: 'number' }]),
  ),
  additionalProperties: false,
};

const LOCATION: JsonSchema = {
  type: 'object',
  properties: { latitude: { type: 'number' }, longitude: { type: 'number' }, radius: { type: 'number' } },
  required: ['latitude', 'longitude'],
};

/**
 * The hub's description of the values of a field, as a JSON schema. The hub may accept more values than it
 * describes.
 */
export function schemaOf(field: FormField): JsonSchema {
  const schema = field.selector ? ofSelector(field.selector) : ofType(field);
  return field.allow_none && schema['type'] !== undefined ? { ...schema, nullable: true } : schema;
}

/** Whether the field asks for a duration: an object of days, hours, minutes, seconds and milliseconds. */
export const isDuration = ({ type, selector }: FormField): boolean =>
  type === 'positive_time_period_dict' || (selector !== undefined && 'duration' in selector);

function ofType(field: FormField): JsonSchema {
  switch (field.type) {
    case 'string':
      return { ...TEXT, ...defined({ minLength: field.lengthMin, maxLength: field.lengthMax }) };
    case 'integer':
      return { type: 'integer', ...defined({ minimum: field.valueMin, maximum: field.valueMax }) };
    case 'float':
      return { type: 'number', ...defined({ minimum: field.valueMin, maximum: field.valueMax }) };
    case 'boolean':
      return { type: 'boolean' };
    case 'select':
      return oneOf(optionsOf(field));
    case 'multi_select':
      return { type: 'array', items: oneOf(optionsOf(field)) };
    case 'positive_time_period_dict':
      return DURATION;
    default:
      return ANY;
  }
}

function ofSelector(selector: NonNullable<FormField['selector']>): JsonSchema {
  const [[type, config] = ['', null]] = Object.entries(selector);
  const { multiple, min, max, options, custom_value: custom } = config ?? {};
  const list = (items: JsonSchema): JsonSchema => (multiple ? { type: 'array', items } : items);
  switch (type) {
    case 'boolean':
      return { type: 'boolean' };
    case 'number':
      return { type: 'number', ...defined({ minimum: min, maximum: max }) };
    case 'color_temp':
      return { type: 'number' };
    case 'color_rgb':
      return {
        type: 'array',
        items: { type: 'integer', minimum: 0, maximum: 255 },
        minItems: 3,
        maxItems: 3,
      };
    case 'select':
      return list(custom ? TEXT : { type: 'string', ...oneOf(valuesOf(options)) });
    case 'duration':
      return DURATION;
    case 'location':
      return LOCATION;
    default:
      return TEXT_SELECTORS.has(type) ? list(TEXT) : ANY;
  }
}

/**
 * The options of a field as values. A `select` has pairs of value and label; a `multi_select` has labels by
 * value, or values.
 */
function optionsOf({ options }: FormField): readonly unknown[] {
  if (!Array.isArray(options)) return isObject(options) ? Object.keys(options) : [];
  return (options as readonly unknown[]).map((option) =>
    Array.isArray(option) ? (option[0] as unknown) : option,
  );
}

/** The options of a select selector as values; an option is a value or `{value, label}`. */
function valuesOf(options: unknown): readonly unknown[] {
  if (!Array.isArray(options)) return [];
  return (options as readonly unknown[]).map((option) =>
    typeof option === 'object' && option !== null && 'value' in option ? option.value : option,
  );
}

/**
 * A schema for one of the values. The hub may return no options, for example because there are no devices, or
 * an option twice.
 */
function oneOf(values: readonly unknown[]): JsonSchema {
  const scalars = new Set(values.filter((value) => value !== undefined && !(value instanceof Object)));
  return scalars.size > 0 ? { enum: [...scalars] } : ANY;
}

function defined(fields: Readonly<Record<string, unknown>>): JsonSchema {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== null),
  );
}
