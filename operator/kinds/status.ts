import { conditions } from './condition';
import type { Field } from './schema';

/** Status fields of every kind. */
export const commonStatus = {
  observedGeneration: {
    type: 'integer',
    format: 'int64',
    description: 'The `metadata.generation` that the operator last worked.',
  },
  conditions,
  lastHandledReconcileAt: {
    type: 'string',
    description: 'The value of the annotation `reconcile-requested-at` that was last honoured.',
  },
} as const satisfies Record<string, Field>;

/** Status fields of the kinds that have an object in the hub. */
export const hubObjectStatus = {
  ...commonStatus,
  appliedHash: { type: 'string', description: 'Hash (`sha256:<hex>`) of what the hub last accepted.' },
  lastAppliedTime: {
    type: 'string',
    format: 'date-time',
    description: 'When the hub last accepted a change.',
  },
  adopted: {
    type: 'boolean',
    description:
      'True: the object was in the hub before this resource. Deleting the resource leaves it there, unless `deletionPolicy` is Delete.',
  },
  appliedFields: {
    type: 'array',
    description:
      'The fields that the operator set. A field that leaves the spec is cleared in the hub only if it stands here.',
    items: { type: 'string' },
    'x-kubernetes-list-type': 'atomic',
  },
} as const satisfies Record<string, Field>;
