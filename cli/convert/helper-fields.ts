import { isObject } from '../../operator/base/is-object';
import { helperDomains, type HelperType } from '../../operator/kinds/helper/domains';
import { helperTypes } from '../../operator/sync/registry/helpers/types';

type Fields = Readonly<Record<string, unknown>>;
export type HelperDomain = (typeof helperDomains)[HelperType];

/** The converted fields, or the reason why a HubHelper cannot have them, in words without a full stop. */
type ReadFields = { readonly fields: Fields } | { readonly reason: string };

/** Converts a value as the hub’s check of the configuration does. @returns undefined if it has another type */
type Form = (value: unknown) => unknown;

// Python writes other numbers, and true and false, in another way than JavaScript.
const text: Form = (value) => (Number.isSafeInteger(value) ? String(value) : asText(value));
const asText: Form = (value) => (typeof value === 'string' ? value : undefined);
const flag: Form = (value) => (typeof value === 'boolean' ? value : undefined);
const number: Form = (value) => (typeof value === 'number' && Number.isFinite(value) ? value : undefined);
const integer: Form = (value) => (Number.isSafeInteger(value) ? value : undefined);
const options: Form = (value) => {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  const texts = [...new Set(list.map(text))];
  return texts.includes(undefined) ? undefined : texts;
};
const slots: Form = (value) => (Array.isArray(value) && value.every(isSlot) ? value : undefined);
const isSlot = (value: unknown): boolean =>
  isObject(value) &&
  typeof value['from'] === 'string' &&
  typeof value['to'] === 'string' &&
  Object.keys(value).every((key) => ['from', 'to', 'data'].includes(key));

/** A duration in the form of the hub’s storage, such as `1:30:00`. */
const duration: Form = (value) => {
  const seconds = secondsOf(value);
  if (seconds === undefined || !Number.isSafeInteger(seconds) || seconds < 0) return undefined;
  const two = (part: number) => String(part).padStart(2, '0');
  return `${Math.floor(seconds / 3_600)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
};

const SECONDS: Readonly<Record<string, number>> = { days: 86_400, hours: 3_600, minutes: 60, seconds: 1 };

function secondsOf(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value === 'string') {
    const [, hours, minutes, seconds = '0'] = /^(\d+):([0-5]?\d)(?::([0-5]?\d))?$/.exec(value) ?? [];
    return hours === undefined ? undefined : Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds);
  }
  if (!isObject(value) || Object.keys(value).length === 0) return undefined;
  const parts = Object.entries(value).map(([unit, count]) =>
    Object.hasOwn(SECONDS, unit) && Number.isSafeInteger(count) ? Number(count) * SECONDS[unit]! : NaN,
  );
  return parts.reduce((sum, each) => sum + each, 0);
}

const common: Readonly<Record<string, Form>> = {
  name: text,
  icon: text,
  unit_of_measurement: text,
  mode: text,
};

/** The forms of fields that only some domains have, or that have another form in each. */
const FORMS: Readonly<Record<HelperDomain, Readonly<Record<string, Form>>>> = {
  input_boolean: { initial: flag },
  input_button: {},
  input_number: { min: number, max: number, step: number, device_class: text },
  input_text: { min: integer, max: integer, pattern: text, initial: text },
  input_select: { options, initial: text },
  input_datetime: { has_date: flag, has_time: flag, initial: asText },
  counter: { initial: integer, step: integer, minimum: integer, maximum: integer, restore: flag },
  timer: { duration, restore: flag },
  schedule: Object.fromEntries(
    ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'].map((day) => [day, slots]),
  ),
};

export const helperDomainNames = Object.values(helperDomains);

/** The names that the fields of a domain have in the hub. */
const known = new Map(
  helperTypes.map(({ type, fields }) => [
    type as HelperDomain,
    new Set(['name', ...Object.values(fields).map(({ name }) => name)]),
  ]),
);

/** Fields whose absence the hub writes as null. */
const NULLABLE: readonly string[] = ['minimum', 'maximum'];

/**
 * Converts the fields of a helper in the hub’s YAML to those of its storage. A helper without a name gets the one that
 * the hub shows.
 */
export function helperFields(domain: HelperDomain, id: string, given: unknown): ReadFields {
  if (given !== null && !isObject(given)) return { reason: 'it is no mapping: correct it' };
  const fields: Record<string, unknown> = { name: id.replaceAll('_', ' ') };
  for (const [key, value] of Object.entries(given ?? {})) {
    if (domain === 'input_number' && key === 'initial')
      return {
        reason:
          'initial is set at each start, and a HubHelper of the type number has no such field: remove it, and the value is restored',
      };
    const form = known.get(domain)!.has(key) ? (FORMS[domain][key] ?? common[key]) : undefined;
    if (!form) return { reason: `the hub does not know the field ${key}: correct it` };
    if (value === null && NULLABLE.includes(key)) continue;
    const converted = form(value);
    if (converted === undefined)
      return { reason: `${key} has a value that the hub would convert: write it in the form of a HubHelper` };
    fields[key] = converted;
  }
  return { fields };
}
