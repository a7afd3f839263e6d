import { flagWithDefault, objectName, textUpTo } from '../fields';
import type { Field } from '../schema';

/** Pattern of a Kubernetes quantity that is written as a string. */
export const quantityPattern = '^([0-9]+(\\.[0-9]*)?|\\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?$';

export const storage = {
  type: 'object',
  description:
    'The volume with the hub’s `/config`: the PersistentVolumeClaim `<hub>-config`. An existing claim of that name is ' +
    'used; the condition `StorageReady` reports where it differs from these fields.',
  default: {},
  properties: {
    size: {
      type: 'string',
      description:
        'Size of the volume. A larger size expands it, if the storage class supports that. Default 5Gi.',
      pattern: quantityPattern,
      maxLength: 32,
      default: '5Gi',
    },
    storageClassName: textUpTo(
      253,
      'Storage class of the volume; "" disables dynamic provisioning. It cannot be changed. Absent: the default class of the cluster.',
    ),
    accessModes: {
      type: 'array',
      description: 'Access modes of the volume. They cannot be changed. Default [ReadWriteOnce].',
      items: { type: 'string', enum: ['ReadWriteOnce', 'ReadWriteOncePod', 'ReadWriteMany'], maxLength: 32 },
      minItems: 1,
      maxItems: 3,
      'x-kubernetes-list-type': 'set',
      default: ['ReadWriteOnce'],
    },
    retain: flagWithDefault(
      false,
      'True: the volume and the generated credentials are kept when the Hub is deleted, and a new Hub of the same name ' +
        'uses them. It can be set at any time, and once it was true the volume stays: false then keeps it as well (event ' +
        '`ClaimKept` with the command that deletes it). Default false.',
    ),
    existingClaim: objectName(
      'Use this PersistentVolumeClaim instead of creating one. It is never deleted, nor are the generated credentials of ' +
        'the hub on it. Files on it that the operator replaces are kept once as `*.before-hub-operator`. Absent: `<hub>-config`.',
    ),
  },
} as const satisfies Field;
