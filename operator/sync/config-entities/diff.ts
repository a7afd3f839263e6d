import { isDeepStrictEqual } from 'node:util';
import type { EntityPayload } from '../../client/connection/config-entity';
import type { Child } from '../objects/child';
import type { FieldDiff } from '../objects/field-diff';
import { canonical, payloadHash } from '../objects/payload-hash';
import type { ConfigEntitySpec, EntityType } from './entity-type';

type Form = Pick<EntityType<Child, ConfigEntitySpec>, 'keys' | 'normal' | 'renamed'>;

/**
 * The fields in which a definition from the hub differs in meaning from the desired payload
 * (`normal-form.ts`).
 */
export function diff(form: Form, id: string, actual: EntityPayload, desired: EntityPayload): FieldDiff[] {
  const compared = [expressed(form, actual), expressed(form, desired)] as const;
  if (isDeepStrictEqual(...compared)) return []; // the usual case, and much cheaper than normal forms
  const [first, second] = [form.normal(compared[0], id), form.normal(compared[1], id)];
  const fields = new Set([...Object.keys(first), ...Object.keys(second)]);
  return [...fields]
    .filter((field) => canonical(first[field]) !== canonical(second[field]))
    .sort()
    .map((field) => ({ field, actual: first[field], desired: second[field] }));
}

/** Hash of a payload in normal form: payloads with the same meaning have the same hash. */
export const hashOf = (form: Form, id: string, payload: EntityPayload): string =>
  payloadHash(form.normal(expressed(form, payload), id));

/**
 * The keys that no field of the spec corresponds to, such as `metadata` of a scene. They are kept when the
 * object is written.
 */
export function unexpressed(form: Form, stored: EntityPayload): EntityPayload {
  return Object.fromEntries(
    Object.entries(stored).filter(([key]) => key !== 'id' && !isExpressed(form, key)),
  );
}

/** The definition without keys that the hub adds, such as the id. */
function expressed(form: Form, definition: EntityPayload): EntityPayload {
  return Object.fromEntries(Object.entries(definition).filter(([key]) => isExpressed(form, key)));
}

const isExpressed = ({ keys, renamed = {} }: Form, key: string): boolean =>
  keys.includes(key) || Object.hasOwn(renamed, key);
