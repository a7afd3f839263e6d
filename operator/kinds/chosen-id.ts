import type { CelRule, Schema } from './schema';

const ID_STAYS =
  'id cannot be set, changed or removed later: delete this resource and create it with the other id';

/** An id that the hub makes of a name: a slug. */
export const slugId = {
  type: 'string',
  pattern: '^[a-z0-9]+(_[a-z0-9]+)*$',
  maxLength: 64,
  'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: ID_STAYS }],
} as const satisfies Schema;

/** Rules of a spec with such an id, which stays also where it is absent. */
export const chosenIdRules = [
  { rule: 'has(self.id) == has(oldSelf.id)', message: ID_STAYS, fieldPath: '.id' },
] as const satisfies readonly CelRule[];
