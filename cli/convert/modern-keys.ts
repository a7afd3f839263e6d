import { isObject } from '../../operator/base/is-object';

type Fields = Readonly<Record<string, unknown>>;

/** Keys of an action that contain actions, and keys that contain triggers. */
const OF_ACTIONS = ['sequence', 'default', 'then', 'else', 'parallel', 'choose', 'repeat'];
const OF_TRIGGERS = ['wait_for_trigger', 'triggers', 'trigger'];

/**
 * A definition with the current names of keys: `trigger:` for `platform:`, `action:` for `service:`. The hub
 * accepts both.
 */
export function withModernKeys(payload: Fields): Fields {
  const entries = Object.entries(payload).map(([key, value]): [string, unknown] => {
    if (OF_TRIGGERS.includes(key)) return [key, triggersOf(value)];
    return ['action', 'actions', 'sequence'].includes(key) ? [key, actionsOf(value)] : [key, value];
  });
  return Object.fromEntries(entries);
}

function triggersOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(triggersOf);
  if (!isObject(value)) return value;
  if ('triggers' in value) return { ...value, triggers: triggersOf(value['triggers']) };
  return renamed(value, 'platform', 'trigger');
}

function actionsOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(actionsOf);
  if (!isObject(value)) return value;
  const entries = Object.entries(renamed(value, 'service', 'action')).map(
    ([key, part]): [string, unknown] => {
      if (OF_ACTIONS.includes(key)) return [key, actionsOf(part)];
      return key === 'wait_for_trigger' ? [key, triggersOf(part)] : [key, part];
    },
  );
  return Object.fromEntries(entries);
}

/**
 * Renames a field without changing the order of the keys. A field whose value is not a string has another
 * meaning and is unchanged.
 */
function renamed(fields: Fields, former: string, present: string): Fields {
  if (typeof fields[former] !== 'string' || present in fields) return fields;
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [key === former ? present : key, value]),
  );
}
