import { moment, nonEmptyText, textUpTo } from './fields';
import type { Infer, Schema } from './schema';

/**
 * A `metav1.Condition` by the rules of kstatus: `Ready` is always present, `Reconciling` and `Stalled` only
 * while they are True.
 */
const condition = {
  type: 'object',
  properties: {
    type: nonEmptyText(316, 'What the condition is about, such as `Ready`.'),
    status: { type: 'string', description: 'True, False or Unknown.', enum: ['True', 'False', 'Unknown'] },
    observedGeneration: {
      type: 'integer',
      format: 'int64',
      description: 'The `metadata.generation` that the condition is based on.',
      minimum: 0,
    },
    lastTransitionTime: moment('When `status` last changed. A changed message alone does not change it.'),
    reason: nonEmptyText(1024, 'Reason in one word, for programs, such as `TokenNotAvailable`.'),
    message: textUpTo(32768, 'A sentence for people: what happened, and what to do.'),
  },
  // As in metav1.Condition: conditions of other controllers may lack observedGeneration.
  required: ['type', 'status', 'lastTransitionTime', 'reason', 'message'],
} as const satisfies Schema;

export const conditions = {
  type: 'array',
  description: 'Conditions of this resource, one per type. `Ready` is always present.',
  items: condition,
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['type'],
} as const satisfies Schema;

export type Condition = Infer<typeof condition>;
