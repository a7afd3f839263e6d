import { createHash } from 'node:crypto';
import type { HubAutomationSpec, HubScriptSpec } from '../../kinds';
import type { EntityPayload } from '../../client/config-entity';

/** The fields that have a value. */
export function defined(fields: Readonly<Record<string, unknown>>): EntityPayload {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** What automations and scripts have in common, under the hub's own key names. */
export function runPayload(spec: HubAutomationSpec | HubScriptSpec): EntityPayload {
  const { alias, description, mode, max, maxExceeded, variables, trace, useBlueprint } = spec;
  const stored = trace?.storedTraces;
  const run = {
    mode,
    max,
    max_exceeded: maxExceeded,
    trace: stored === undefined ? undefined : { stored_traces: stored },
  };
  if (!useBlueprint) return defined({ alias, description, ...run, variables });
  return defined({
    alias,
    description,
    ...run,
    // The payload overrides the blueprint; a default must not.
    mode: mode === 'single' ? undefined : mode,
    max_exceeded: maxExceeded === 'warning' ? undefined : maxExceeded,
    variables,
    use_blueprint: { path: useBlueprint.path, input: useBlueprint.input ?? {} },
  });
}

/** `sha256:<hex>` of a payload, regardless of the order of its keys. */
export function payloadHash(payload: EntityPayload): string {
  return `sha256:${createHash('sha256').update(canonical(payload)).digest('hex')}`;
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, entry]) => `${JSON.stringify(key)}:${canonical(entry)}`).join(',')}}`;
}
