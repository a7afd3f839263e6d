import { isObject } from '../../../operator/base/is-object';
import type { Home } from '../protocol';

/** Entities that are not replayed, because the simulated hub has its own. */
const OF_THE_HUB = /^(automation|scene|script|sun|zone)\./;
const ENTITY = /[a-z0-9_]+\.[a-z0-9_]+/g;
const TEMPLATE = /\{[{%]/;
/** Fields of an action with the entities on which it acts, whose states it does not read. */
const TARGETS: readonly string[] = ['entity_id', 'target'];

/**
 * The entities to which the automations, scripts and configurations of homes refer, except those that are
 * only targets of actions.
 *
 * @param known entity ids of the hub
 * @returns sorted ids
 */
export function entitiesReadBy(homes: readonly Home[], known: readonly string[]): readonly string[] {
  const named = new Set<string>();
  const add = (text: string) => {
    for (const [entity] of text.matchAll(ENTITY)) {
      named.add(entity);
      // References such as `states.sensor.hall.state`.
      const [first, second] = entity.split('.');
      if (first === 'states')
        for (const [, id] of text.matchAll(memberOf(second!))) named.add(`${second}.${id}`);
    }
  };
  for (const { automations, scripts, configuration, files } of homes) {
    textsOf([automations, scripts], add);
    [configuration ?? '', ...Object.values(files)].forEach(add);
  }
  return known.filter((entity) => named.has(entity) && !OF_THE_HUB.test(entity)).sort();
}

const memberOf = (domain: string): RegExp => new RegExp(`\\bstates\\.${domain}\\.([a-z0-9_]+)`, 'g');

/** Calls `add` with each text of a definition that may refer to an entity whose state is read. */
function textsOf(value: unknown, add: (text: string) => void): void {
  if (typeof value === 'string') add(value);
  else if (Array.isArray(value)) value.forEach((each) => textsOf(each, add));
  else if (isObject(value)) {
    const isCall = typeof value['action'] === 'string' || typeof value['service'] === 'string';
    for (const [key, each] of Object.entries(value)) {
      const isTarget = isCall && TARGETS.includes(key);
      if (isTarget) textsOf(each, (text) => TEMPLATE.test(text) && add(text));
      else if (isCall && key === 'data' && isObject(each)) textsOf({ ...each, action: '' }, add);
      else textsOf(each, add);
    }
  }
}
