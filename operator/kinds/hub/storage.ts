import type { Field } from '../schema';

/** A Kubernetes quantity that is written as text. */
export const quantityPattern = '^([0-9]+(\\.[0-9]*)?|\\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?$';

export const storage = {
  type: 'object',
  description:
    'The volume with the hub’s `/config`: the PersistentVolumeClaim `<hub>-config`. A claim of that name that is there ' +
    'already is used; where it differs from what stands here, the condition `StorageReady` says so.',
  default: {},
  properties: {
    size: {
      type: 'string',
      description: 'Size of the volume. A larger one expands it, where the storage class can. Default 5Gi.',
      pattern: quantityPattern,
      maxLength: 32,
      default: '5Gi',
    },
    storageClassName: {
      type: 'string',
      description:
        'Storage class of the volume; "" turns dynamic provisioning off. It cannot be changed. Absent: the cluster’s default class.',
      maxLength: 253,
    },
    accessModes: {
      type: 'array',
      description: 'Access modes of the volume. They cannot be changed. Default [ReadWriteOnce].',
      items: { type: 'string', enum: ['ReadWriteOnce', 'ReadWriteOncePod', 'ReadWriteMany'], maxLength: 32 },
      minItems: 1,
      maxItems: 3,
      'x-kubernetes-list-type': 'set',
      default: ['ReadWriteOnce'],
    },
    retain: {
      type: 'boolean',
      description:
        'True: the volume and the generated credentials stay when the Hub is deleted, and a Hub of the same name finds ' +
        'them again. It can be switched at any time. Default false.',
      default: false,
    },
    existingClaim: {
      type: 'string',
      description:
        'Use this PersistentVolumeClaim instead of making one. It is never deleted. Files on it that the operator has ' +
        'to replace are kept once as `*.before-hub-operator`.',
      minLength: 1,
      maxLength: 253,
    },
  },
} as const satisfies Field;
