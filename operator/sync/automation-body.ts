import { createHash } from 'node:crypto';
import type { EntityBody } from '../client/config-entities';
import type { HubAutomationSpec } from '../kinds';

/** The automation as the hub's config API takes it: its own key names, nothing that it does not know. */
export function automationBody(spec: HubAutomationSpec): EntityBody {
  // Off at every start of the hub, whatever `initialState` says (kinds.md 5).
  const initialState = spec.enabled ? spec.initialState : false;
  return {
    alias: spec.alias,
    ...(spec.description !== undefined && { description: spec.description }),
    ...(spec.useBlueprint
      ? { use_blueprint: { path: spec.useBlueprint.path, input: spec.useBlueprint.input ?? {} } }
      : { triggers: spec.triggers ?? [], conditions: spec.conditions ?? [], actions: spec.actions ?? [] }),
    mode: spec.mode,
    ...(spec.max !== undefined && { max: spec.max }),
    max_exceeded: spec.maxExceeded,
    ...(initialState !== undefined && { initial_state: initialState }),
    ...(spec.variables && { variables: spec.variables }),
    ...(spec.trace?.storedTraces !== undefined && { trace: { stored_traces: spec.trace.storedTraces } }),
  };
}

/** `sha256:<hex>` of a definition, whatever the order of its keys. */
export function bodyHash(body: EntityBody): string {
  return `sha256:${createHash('sha256').update(canonical(body)).digest('hex')}`;
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, entry]) => `${JSON.stringify(key)}:${canonical(entry)}`).join(',')}}`;
}

/** The top-level fields in which two definitions differ; the hub adds the `id` by itself. */
export function differingFields(present: EntityBody | undefined, wanted: EntityBody): string[] {
  const { id: _, ...there } = present ?? {};
  const names = new Set([...Object.keys(there), ...Object.keys(wanted)]);
  return [...names].filter((name) => canonical(there[name]) !== canonical(wanted[name])).sort();
}
