import type { HubAutomationSpec, HubScriptSpec } from '../../kinds';
import type { EntityPayload } from '../../client/connection/config-entity';
import { isObject } from '../../base/is-object';
import { integer, lowerCase, normalizer, type Rules } from './normal-form';

/** The fields that have a value. */
export function defined(fields: Readonly<Record<string, unknown>>): EntityPayload {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** Keys of the hub that the common fields of automations and scripts become. */
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

/** The normal form of automations or scripts, by the rules for what only these have. */
export function runNormalizer({
  renamed = {},
  values,
  defaults,
}: Rules): (whole: EntityPayload) => EntityPayload {
  const rules = { renamed, values: { ...runValues, ...values } };
  const plain = normalizer({ ...rules, defaults: { ...runDefaults, ...defaults } });
  // What stands beside a blueprint overrides it, also if it is a default.
  const besideBlueprint = normalizer({ ...rules, defaults: { description: '' } });
  return (whole) => {
    if (whole['use_blueprint'] !== undefined) return besideBlueprint(whole) as EntityPayload;
    const { max, ...others } = plain(whole) as EntityPayload;
    const hasMax = max !== undefined && ['queued', 'parallel'].includes(others['mode'] as string);
    return hasMax ? { ...others, max } : others;
  };
}

/** What automations and scripts have in common, under the hub's own key names. */
export function runPayload(spec: HubAutomationSpec | HubScriptSpec): EntityPayload {
  const { alias, description, max, maxExceeded, variables, trace, useBlueprint } = spec;
  return defined({
    alias,
    description,
    mode: modeOf(spec),
    max,
    // The payload overrides the blueprint; a default must not.
    max_exceeded: maxExceeded ?? (useBlueprint ? undefined : 'warning'),
    variables,
    trace: trace?.storedTraces === undefined ? undefined : { stored_traces: trace.storedTraces },
    use_blueprint: useBlueprint && { path: useBlueprint.path, input: useBlueprint.input ?? {} },
  });
}

/** The mode that is sent to the hub; undefined: that of the blueprint. */
export function modeOf({
  mode,
  useBlueprint,
}: Pick<HubScriptSpec, 'mode' | 'useBlueprint'>): string | undefined {
  return mode ?? (useBlueprint ? undefined : 'single');
}

/**
 * The fault of a list whose items the schema cannot check, in a sentence; undefined: nothing. Strings are templates;
 * the hub decides where it accepts one.
 */
export function invalidItem(field: string, items: readonly unknown[] = []): string | undefined {
  const index = items.findIndex((item) => typeof item !== 'string' && !isObject(item));
  if (index < 0) return undefined;
  return `${field}[${index}] is ${JSON.stringify(items[index])}: write an object, or a template in quotes where the hub accepts one.`;
}
