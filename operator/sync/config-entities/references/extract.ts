import type { EntityPayload } from '../../../client/connection/config-entity';
import type { ReferenceType } from '../../../client/registries/known-names';
import { isObject } from '../../../base/is-object';

/** A reference in a definition by a literal id, not by a template. */
export interface Reference {
  readonly type: ReferenceType;
  readonly id: string;
}

export interface References {
  readonly all: readonly Reference[];
  /** Entity ids of the scenes and groups that the definition's actions create. */
  readonly created: ReadonlySet<string>;
}

type Part = Readonly<Record<string, unknown>>;

/** The keys of a target and of its `exclude`, each with the type of its ids. */
const TARGET_KEYS = {
  area_id: 'area',
  device_id: 'device',
  entity_id: 'entity',
  floor_id: 'floor',
  label_id: 'label',
} as const satisfies Readonly<Record<string, ReferenceType>>;

const ENTITY_ID = /^(?!.+__)(?!_)[\da-z_]+(?<!_)\.(?!_)[\da-z_]+(?<!_)$/;
const ACTION = /^[\da-z_]+\.[\da-z_]+$/;

/** Keys with entity ids, by the type of the trigger. Triggers of integrations have a target instead. */
const ENTITIES_OF_TRIGGERS: ReadonlyMap<unknown, readonly string[]> = new Map([
  ['state', ['entity_id']],
  ['numeric_state', ['entity_id']],
  ['calendar', ['entity_id']],
  ['device', ['entity_id']],
  ['time', ['at']],
  ['zone', ['entity_id', 'zone']],
  ['zone.entered', ['zone']],
  ['zone.left', ['zone']],
  ['geo_location', ['zone']],
]);

const DEVICE_TRIGGERS: ReadonlySet<unknown> = new Set(['device', 'tag']);

/**
 * Actions that create an entity, each with the domain of the entity and the key of the action's data with the
 * object id.
 */
const CREATING: ReadonlyMap<string, readonly [domain: string, key: string]> = new Map([
  ['scene.create', ['scene', 'scene_id']],
  ['group.set', ['group', 'object_id']],
]);

/**
 * The references of a definition, at the places where the hub itself looks for them (`referenced_entities`
 * and similar functions in `homeassistant/helpers`), and the actions that the definition calls. Templates and
 * disabled steps are left out.
 */
export function referencesOf(definition: EntityPayload): References {
  const search = new Search();
  search.triggers(definition['triggers'] ?? definition['trigger']);
  search.conditions(definition['conditions'] ?? definition['condition']);
  for (const key of ['actions', 'action', 'sequence']) search.actions(definition[key]);
  const { entities } = definition;
  if (isObject(entities)) search.add('entity', Object.keys(entities));
  return search.result;
}

class Search {
  private readonly found = new Map<string, Reference>();
  private readonly created = new Set<string>();

  get result(): References {
    return { all: [...this.found.values()], created: this.created };
  }

  /**
   * Adds an id or a list of ids. A text may also contain several entity ids, separated by commas. Templates
   * are not added.
   */
  add(type: ReferenceType, value: unknown): void {
    const given = type === 'entity' && typeof value === 'string' ? value.split(',') : value;
    for (const each of listOf(given)) {
      if (typeof each !== 'string' || each.includes('{')) continue;
      const id = type === 'entity' || type === 'action' ? each.trim().toLowerCase() : each;
      if (isMeant(type, id)) this.found.set(`${type} ${id}`, { type, id });
    }
  }

  triggers(value: unknown): void {
    for (const trigger of enabledIn(value)) {
      const { trigger: type = trigger['platform'], options } = trigger;
      const all = { ...trigger, ...(isObject(options) && options) };
      this.triggers(all['triggers']);
      this.target(all['target']);
      for (const key of ENTITIES_OF_TRIGGERS.get(type) ?? [])
        for (const each of listOf(all[key])) this.add('entity', isObject(each) ? each['entity_id'] : each);
      if (DEVICE_TRIGGERS.has(type)) this.add('device', all['device_id']);
      if (type === 'sun') this.add('entity', 'sun.sun');
      if (type === 'event') this.eventData(all['event_data']);
    }
  }

  conditions(value: unknown): void {
    for (const condition of enabledIn(value)) {
      const { condition: type, options } = condition;
      const all = { ...condition, ...(isObject(options) && options) };
      for (const key of ['and', 'or', 'not', 'conditions']) this.conditions(all[key]);
      this.target(all['target']);
      this.add('entity', all['entity_id']);
      if (type === 'device') this.add('device', all['device_id']);
      if (type === 'time') this.add('entity', [all['after'], all['before']]);
      if (typeof type === 'string' && type.split('.')[0] === 'zone') this.add('entity', all['zone']);
    }
  }

  actions(value: unknown): void {
    for (const step of enabledIn(value)) {
      const name = step['action'] ?? step['service'];
      if (typeof name === 'string') this.call(name, step);
      else if (typeof step['device_id'] === 'string') this.target(step);
      if (['condition', 'and', 'or', 'not'].some((key) => key in step)) this.conditions(step);
      this.add('entity', step['scene']);
      if ('event' in step) this.eventData(step['event_data']);
      this.triggers(step['wait_for_trigger']);
      this.branches(step);
    }
  }

  private call(name: string, step: Part): void {
    this.add('action', name);
    for (const part of [step['target'], step['data'], step['data_template']]) this.target(part);
    this.add('entity', step['entity_id']);
    const [domain, key = ''] = CREATING.get(name) ?? [];
    const id = isObject(step['data']) ? step['data'][key] : undefined;
    if (typeof id === 'string') this.created.add(`${domain}.${id.toLowerCase()}`);
  }

  private branches(step: Part): void {
    this.conditions(step['if']);
    for (const key of ['then', 'else', 'default', 'sequence', 'parallel']) this.actions(step[key]);
    for (const option of [...enabledIn(step['choose']), ...enabledIn(step['repeat'])]) {
      for (const key of ['conditions', 'while', 'until']) this.conditions(option[key]);
      this.actions(option['sequence']);
    }
  }

  private target(value: unknown): void {
    if (!isObject(value)) return;
    for (const [key, type] of Object.entries(TARGET_KEYS)) this.add(type, value[key]);
    this.target(value['exclude']);
  }

  private eventData(value: unknown): void {
    if (!isObject(value)) return;
    this.add('entity', value['entity_id']);
    this.add('device', value['device_id']);
  }
}

/**
 * Reports whether a text can be an id of this type. Other texts in the place of an entity id are ids of
 * registry entries, times, or values that the hub rejects.
 */
function isMeant(type: ReferenceType, id: string): boolean {
  if (id === '' || id === 'all' || id === 'none') return false;
  if (type === 'entity') return ENTITY_ID.test(id);
  return type !== 'action' || ACTION.test(id);
}

const listOf = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];

/** The enabled objects in a list, including those in nested lists. Texts are templates, and are left out. */
function enabledIn(value: unknown): readonly Part[] {
  return listOf(value).flatMap((each): readonly Part[] => {
    if (Array.isArray(each)) return enabledIn(each);
    return isObject(each) && !isOff(each['enabled']) ? [each] : [];
  });
}

/** Reports whether the hub reads the value of `enabled` as false. The value may be a string. */
const isOff = (value: unknown): boolean =>
  value === false ||
  (typeof value === 'string' && ['0', 'false', 'no', 'off', 'disable'].includes(value.trim().toLowerCase()));
