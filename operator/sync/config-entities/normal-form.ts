import { isObject } from '../../base/is-object';
import { canonical } from '../objects/payload-hash';

/**
 * Rules for normal forms: definitions with the same meaning for the hub have one normal form. The hub's
 * editor writes defaults that users omit, and a write of an equivalent definition would end its runs. Each
 * rule is verified against the hub's own validation or its traces (`normal-form.test.ts`).
 */
export interface Rules {
  /** Present names of keys, by their former names. */
  readonly renamed?: Readonly<Record<string, string>>;
  /** Keys that the hub does not use. */
  readonly unused?: readonly string[];
  /** The normal forms of the values of keys. */
  readonly values?: Readonly<Record<string, Normalize>>;
  /** Values in normal form that mean the same as an absent value. */
  readonly defaults?: Readonly<Record<string, unknown>>;
}

type Normalize = (value: unknown) => unknown;

type Part = Readonly<Record<string, unknown>>;

/** Returns a function that normalizes an object by these rules. It returns any other value unchanged. */
export function normalizer({ renamed = {}, unused = [], values = {}, defaults = {} }: Rules): Normalize {
  const isDefault = (key: string, value: unknown) =>
    Object.hasOwn(defaults, key) && canonical(value) === canonical(defaults[key]);
  return (part) => {
    if (!isObject(part)) return part;
    const entries: [string, unknown][] = [];
    for (const [key, given] of Object.entries(part)) {
      const name = newName(renamed, key, part);
      if (unused.includes(name)) continue;
      const value = Object.hasOwn(values, name) ? values[name]!(given) : given;
      if (!isDefault(name, value)) entries.push([name, value]);
    }
    return Object.fromEntries(entries);
  };
}

/** The new name of a key. If an object has both names, it is kept unchanged, since the hub rejects it. */
function newName(renamed: Readonly<Record<string, string>>, key: string, part: Part): string {
  const name = Object.hasOwn(renamed, key) ? renamed[key]! : key;
  return Object.hasOwn(part, name) ? key : name;
}

/** A list, for which the hub also accepts a single item without brackets, and null for none. */
const listOf =
  (item: Normalize): Normalize =>
  (value) =>
    (Array.isArray(value) ? value : value === null ? [] : [value]).map(item);

/** A map with any keys, whose values are normalized. */
export const mapOf =
  (value: Normalize): Normalize =>
  (map) =>
    isObject(map) ? Object.fromEntries(Object.entries(map).map(([key, each]) => [key, value(each)])) : map;

const BOOLEANS = new Map([
  ...['1', 'true', 'yes', 'on', 'enable'].map((text) => [text, true] as const),
  ...['0', 'false', 'no', 'off', 'disable'].map((text) => [text, false] as const),
]);

export const boolean: Normalize = (value) =>
  typeof value === 'string' ? (BOOLEANS.get(value.trim().toLowerCase()) ?? value) : value;

export const lowerCase: Normalize = (value) => (typeof value === 'string' ? value.toLowerCase() : value);

/** Converts `"5"` to 5. */
export const integer: Normalize = (value) =>
  typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value;

const isTemplate = (value: unknown): boolean => typeof value === 'string' && value.includes('{');

/** Converts `"light.a, Light.B"` to `[light.a, light.b]`. */
const entityIds: Normalize = (value) => {
  const ids = typeof value === 'string' && !isTemplate(value) ? value.split(',') : value;
  return listOf((id) => (typeof id === 'string' && !isTemplate(id) ? id.trim().toLowerCase() : id))(ids);
};

const SECONDS: Readonly<Record<string, number>> = {
  days: 86_400,
  hours: 3_600,
  minutes: 60,
  seconds: 1,
  milliseconds: 0.001,
};

/** Converts `"00:05:00"`, `{minutes: 5}` and `"300"` to 300. A value with a template is kept unchanged. */
const duration: Normalize = (value) => {
  const seconds = secondsOf(value);
  return Number.isFinite(seconds) ? Math.round(seconds * 1e6) / 1e6 : value;
};

function secondsOf(value: unknown): number {
  if (typeof value === 'number') return value;
  if (typeof value === 'string') {
    const [, hours, minutes, seconds = 0] = /^\+?(\d+):(\d+)(?::(\d+(?:\.\d+)?))?$/.exec(value) ?? [];
    if (hours !== undefined) return Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds);
    return /^\d+(\.\d+)?$/.test(value) ? Number(value) : NaN;
  }
  if (!isObject(value) || Object.keys(value).length === 0) return NaN;
  return Object.entries(value).reduce((sum, [unit, amount]) => {
    const isNumber = typeof amount === 'number' || (typeof amount === 'string' && /^[\d.]+$/.test(amount));
    return isNumber ? sum + Number(amount) * (SECONDS[unit] ?? NaN) : NaN;
  }, 0);
}

/** Rules that triggers, conditions and actions have in common. The key `note` is only for the editor. */
const enabled = { unused: ['note'], values: { enabled: boolean }, defaults: { enabled: true } } as const;

/** Types of triggers and conditions whose other keys are known. Types of integrations have other keys. */
const KNOWN_TYPES: ReadonlySet<unknown> = new Set(['state', 'numeric_state']);

const trigger = normalizer({ ...enabled, renamed: { platform: 'trigger' } });
const knownTrigger = normalizer({ values: { entity_id: entityIds, for: duration } });

/** Normalizes triggers. One level of nesting is flattened. */
export const triggers: Normalize = (value) =>
  (listOf((each) => each)(value) as unknown[]).flatMap((each) =>
    isObject(each) && Object.keys(each).length === 1 && 'triggers' in each
      ? (listOf(oneTrigger)(each['triggers']) as unknown[])
      : [oneTrigger(each)],
  );

function oneTrigger(value: unknown): unknown {
  const plain = trigger(value);
  return isObject(plain) && KNOWN_TYPES.has(plain['trigger']) ? knownTrigger(plain) : plain;
}

export const conditions: Normalize = (value) => listOf(condition)(value);

const plainCondition = normalizer({ ...enabled, values: { ...enabled.values, conditions } });
const knownCondition = normalizer({
  values: { entity_id: entityIds, for: duration, match: lowerCase },
  defaults: { match: 'all' },
});

function condition(value: unknown): unknown {
  if (typeof value === 'string') return { condition: 'template', value_template: value };
  const plain = plainCondition(isObject(value) ? withoutShorthand(value) : value);
  return isObject(plain) && KNOWN_TYPES.has(plain['condition']) ? knownCondition(plain) : plain;
}

/** Converts `{or: […]}` to `{condition: or, conditions: […]}`. */
function withoutShorthand(part: Part): Part {
  const type = ['and', 'or', 'not'].find((each) => Object.hasOwn(part, each));
  if (type === undefined || 'condition' in part || 'conditions' in part) return part;
  const { [type]: list, ...others } = part;
  return { ...others, condition: type, conditions: list };
}

export const actions: Normalize = (value) => listOf(action)(value);

const isCondition = (part: Part): boolean =>
  ['condition', 'and', 'or', 'not'].some((key) => Object.hasOwn(part, key));

function action(value: unknown): unknown {
  if (!isObject(value)) return value;
  return plainAction(isCondition(value) ? condition(value) : value);
}

const branch: Normalize = (value) =>
  action(isObject(value) && Object.hasOwn(value, 'sequence') ? value : { sequence: value });

const plainAction = normalizer({
  renamed: { service: 'action' },
  unused: ['note', 'metadata'],
  values: {
    enabled: boolean,
    continue_on_error: boolean,
    continue_on_timeout: boolean,
    entity_id: entityIds,
    target: normalizer({ values: { entity_id: entityIds } }),
    delay: duration,
    timeout: duration,
    wait_for_trigger: triggers,
    if: conditions,
    then: actions,
    else: actions,
    default: actions,
    sequence: actions,
    parallel: listOf(branch),
    choose: listOf(normalizer({ unused: ['note'], values: { conditions, sequence: actions } })),
    repeat: normalizer({
      values: { count: integer, while: conditions, until: conditions, sequence: actions },
    }),
  },
  defaults: { enabled: true, continue_on_error: false, continue_on_timeout: true, data: {}, target: {} },
});
