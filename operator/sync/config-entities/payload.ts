import type { HubAutomationSpec, HubScriptSpec } from '../../kinds';
import type { EntityPayload } from '../../client/connection/config-entity';
import { isObject } from '../../base/is-object';

/** The fields that have a value. */
export function defined(fields: Readonly<Record<string, unknown>>): EntityPayload {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
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
