import type { HubAutomationSpec, HubScriptSpec } from '../../kinds';
import type { EntityPayload } from '../../client/connection/config-entity';
import { isObject } from '../../base/is-object';
import { integer, lowerCase, normalizer, type Rules } from './normal-form';

/** The fields that have a value. */
export function defined(fields: Readonly<Record<string, unknown>>): EntityPayload {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** Keys of the hub for the fields that automations and scripts have in common. */
export const RUN_KEYS = [
  ...['alias', 'description', 'mode', 'max', 'max_exceeded', 'variables', 'trace', 'use_blueprint'],
] as const;

const runValues = {
  max: integer,
  max_exceeded: lowerCase,
  trace: normalizer({ defaults: { stored_traces: 5 } }),
  use_blueprint: normalizer({ defaults: { input: {} } }),
};
const runDefaults = {
  description: '',
  mode: 'single',
  max: 10,
  max_exceeded: 'warning',
  variables: {},
  trace: {},
};

/**
 * Returns a function that normalizes automations or scripts. The given rules are for the fields that only one
 * of the two kinds has.
 */
export function runNormalizer({
  renamed = {},
  values,
  defaults,
}: Rules): (whole: EntityPayload) => EntityPayload {
  const rules = { renamed, values: { ...runValues, ...values } };
  const plain = normalizer({ ...rules, defaults: { ...runDefaults, ...defaults } });
  // Fields beside a blueprint override those of the blueprint, even with default values, so defaults are not
  // removed.
  const besideBlueprint = normalizer({ ...rules, defaults: { description: '' } });
  return (whole) => {
    if (whole['use_blueprint'] !== undefined) return besideBlueprint(whole) as EntityPayload;
    const { max, ...others } = plain(whole) as EntityPayload;
    const hasMax = max !== undefined && ['queued', 'parallel'].includes(others['mode'] as string);
    return hasMax ? { ...others, max } : others;
  };
}

/** The fields that automations and scripts have in common, under the hub's names of keys. */
export function runPayload(spec: HubAutomationSpec | HubScriptSpec): EntityPayload {
  const { alias, description, max, maxExceeded, variables, trace, useBlueprint } = spec;
  return defined({
    alias,
    description,
    mode: modeOf(spec),
    max,
    // The payload overrides the blueprint, which a default must not do.
    max_exceeded: maxExceeded ?? (useBlueprint ? undefined : 'warning'),
    variables,
    trace: trace?.storedTraces === undefined ? undefined : { stored_traces: trace.storedTraces },
    use_blueprint: useBlueprint && { path: useBlueprint.path, input: useBlueprint.input ?? {} },
  });
}

/** The mode that is sent to the hub. Undefined if the blueprint's mode is used. */
export function modeOf({
  mode,
  useBlueprint,
}: Pick<HubScriptSpec, 'mode' | 'useBlueprint'>): string | undefined {
  return mode ?? (useBlueprint ? undefined : 'single');
}

/**
 * Finds an invalid item in a list whose items the schema cannot check. Strings are templates, and the hub
 * decides where it accepts them.
 *
 * @returns a sentence about the first invalid item, undefined when there is none
 */
export function invalidItem(field: string, items: readonly unknown[] = []): string | undefined {
  const index = items.findIndex((item) => typeof item !== 'string' && !isObject(item));
  if (index < 0) return undefined;
  return `${field}[${index}] is ${JSON.stringify(items[index])}: write an object, or a template in quotes where the hub accepts one.`;
}
