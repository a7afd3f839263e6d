import type { EntityPayload } from '../../client/connection/config-entity';
import { isObject } from '../../base/is-object';
import { defined } from './payload';

// The inverse of the payload functions: they return the spec for a definition from the hub's file. A value in
// a form that no field has is kept unchanged, so that the validation of the spec reports it.

type Fields = Readonly<Record<string, unknown>>;

/** The number of traces that the hub keeps by default. */
const DEFAULT_TRACES = 5;

/** The spec for an automation in the hub's file, without `hubRef` and id. */
export function automationSpecOf(stored: EntityPayload): Fields {
  const { trigger, condition, action, ...rest } = stored;
  const { triggers = trigger, conditions = condition, actions = action } = rest as Fields;
  const blueprint = usesBlueprint(stored);
  return defined({
    ...runSpecOf(rest),
    triggers: listOf(triggers, blueprint),
    conditions: blueprint ? listOf(conditions, true) : notEmpty(listOf(conditions, true)),
    actions: listOf(actions, blueprint),
    triggerVariables: notEmpty(rest['trigger_variables'], blueprint),
    initialState: booleanOf(rest['initial_state']),
  });
}

/** The spec for a script in the hub's file. If there is no alias, the hub shows the id. */
export function scriptSpecOf(stored: EntityPayload, id: string): Fields {
  const { icon, fields, sequence, alias = id } = stored;
  return defined({
    ...runSpecOf({ ...stored, alias }),
    icon,
    fields: notEmpty(fields, usesBlueprint(stored)),
    sequence: listOf(sequence, usesBlueprint(stored)),
  });
}

/** The spec for a scene in the hub's file. */
export function sceneSpecOf({ name, icon, entities }: EntityPayload): Fields {
  return defined({
    name,
    icon,
    entities: isObject(entities) ? Object.entries(entities).map(([id, value]) => sceneEntity(id, value)) : [],
  });
}

function sceneEntity(entityId: string, value: unknown): Fields {
  const { state, ...attributes } = isObject(value) ? value : { state: value };
  return defined({ entity_id: entityId, state: stateOf(state), attributes: notEmpty(attributes) });
}

/** In the hub's file on and off may be written without quotes. */
const stateOf = (state: unknown): unknown => (typeof state === 'boolean' ? (state ? 'on' : 'off') : state);

/**
 * Reports whether a blueprint is used. Then empty values are kept, since they override those of the
 * blueprint.
 */
const usesBlueprint = (stored: Fields): boolean => stored['use_blueprint'] !== undefined;

function runSpecOf(stored: Fields): Fields {
  const { alias, description, mode, max, max_exceeded: maxExceeded, variables, trace } = stored;
  const blueprint = stored['use_blueprint'];
  // An empty `trace` means the default of the hub, which overrides the blueprint's value.
  const preset = usesBlueprint(stored) ? DEFAULT_TRACES : undefined;
  const storedTraces = isObject(trace) ? (trace['stored_traces'] ?? preset) : undefined;
  // The hub ignores `max` in any other mode.
  const counts = mode === 'queued' || mode === 'parallel' || (mode === undefined && blueprint !== undefined);
  return defined({
    alias,
    description: description === '' && !usesBlueprint(stored) ? undefined : description,
    mode,
    max: counts ? integerOf(max) : undefined,
    maxExceeded: typeof maxExceeded === 'string' ? maxExceeded.toLowerCase() : maxExceeded,
    variables: notEmpty(variables, usesBlueprint(stored)),
    trace: storedTraces === undefined ? undefined : { storedTraces },
    useBlueprint: isObject(blueprint)
      ? defined({ path: blueprint['path'], input: notEmpty(blueprint['input']) })
      : blueprint,
  });
}

/** A list, for which the hub also accepts a single item without brackets, and null for none. */
function listOf(value: unknown, isOptional: boolean): unknown {
  if (Array.isArray(value)) return value;
  if (value === undefined && isOptional) return undefined;
  return value === undefined || value === null ? [] : [value];
}

/** @param isKept true if an empty map or list has a meaning */
function notEmpty(value: unknown, isKept = false): unknown {
  const isEmpty = Array.isArray(value)
    ? value.length === 0
    : isObject(value) && Object.keys(value).length === 0;
  return isEmpty && !isKept ? undefined : value;
}

const BOOLEANS: Readonly<Record<string, boolean>> = {
  ...{ on: true, true: true, yes: true, enable: true, '1': true },
  ...{ off: false, false: false, no: false, disable: false, '0': false },
};

const booleanOf = (value: unknown): unknown =>
  typeof value === 'string' ? (BOOLEANS[value.toLowerCase()] ?? value) : value;

const integerOf = (value: unknown): unknown =>
  typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value;
