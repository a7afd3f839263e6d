import { flagWithDefault, nonEmptyText } from '../fields';
import type { Field, Schema } from '../schema';
import { cidr } from './network';

const labelSelector = {
  type: 'object',
  properties: {
    matchLabels: {
      type: 'object',
      description: 'Labels that must have these values.',
      additionalProperties: { type: 'string', maxLength: 63 },
      maxProperties: 64,
    },
    matchExpressions: {
      type: 'array',
      description: 'Further requirements. All must hold.',
      items: {
        type: 'object',
        properties: {
          key: nonEmptyText(317, 'The label.'),
          operator: {
            type: 'string',
            description: 'In, NotIn, Exists or DoesNotExist.',
            enum: ['In', 'NotIn', 'Exists', 'DoesNotExist'],
          },
          values: {
            type: 'array',
            description: 'The values for In and NotIn.',
            items: { type: 'string', maxLength: 63 },
            maxItems: 64,
          },
        },
        required: ['key', 'operator'],
      },
      maxItems: 64,
    },
  },
} as const satisfies Schema;

export const networkPolicy = {
  type: 'object',
  description:
    'The NetworkPolicy `<hub>`, which allows only the operator and `from` to reach the hub’s pod. Default: none.',
  default: {},
  properties: {
    enabled: flagWithDefault(false, 'True: the policy is created. Default false.'),
    from: {
      type: 'array',
      description:
        'Who else may reach the hub, as in a NetworkPolicy; name your ingress controller here. Default: none.',
      items: {
        type: 'object',
        properties: {
          podSelector: { ...labelSelector, description: 'Pods with these labels.' },
          namespaceSelector: { ...labelSelector, description: 'Pods in namespaces with these labels.' },
          ipBlock: {
            type: 'object',
            description: 'A range of addresses, in place of selectors.',
            properties: {
              cidr: { ...cidr, description: 'The range, such as `192.168.1.0/24`.' },
              except: {
                type: 'array',
                description: 'Ranges inside it that are excluded. Default: none.',
                items: cidr,
                maxItems: 64,
              },
            },
            required: ['cidr'],
          },
        },
        'x-kubernetes-validations': [
          {
            rule: 'has(self.ipBlock) != (has(self.podSelector) || has(self.namespaceSelector))',
            message:
              'networkPolicy.from: an entry has either ipBlock or selectors (podSelector, namespaceSelector)',
          },
        ],
      },
      maxItems: 64,
    },
  },
} as const satisfies Field;
