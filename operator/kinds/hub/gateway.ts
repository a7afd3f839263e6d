import { freeObject } from '../entity';
import type { Field } from '../schema';
import { enabledByPresence, hostPattern, port } from './network';

export const gateway = {
  type: 'object',
  description: 'The HTTPRoute `<hub>` of the Gateway API, created if its CRDs are installed. Absent: none.',
  properties: {
    enabled: {
      ...enabledByPresence,
      description: 'False: no HTTPRoute. Default true if the block is present.',
    },
    hostnames: {
      type: 'array',
      description: 'Host names of the hub. Default: those of the Gateway.',
      items: { type: 'string', pattern: hostPattern, maxLength: 253 },
      maxItems: 16,
    },
    parentRefs: {
      type: 'array',
      description: 'Gateways that the route attaches to. At least one is needed if enabled.',
      items: {
        type: 'object',
        properties: {
          group: {
            type: 'string',
            description: 'API group of the parent. Default gateway.networking.k8s.io.',
            maxLength: 253,
          },
          kind: {
            type: 'string',
            description: 'Kind of the parent. Default Gateway.',
            minLength: 1,
            maxLength: 63,
          },
          namespace: {
            type: 'string',
            description: 'Namespace of the parent. Default: that of the Hub.',
            minLength: 1,
            maxLength: 63,
          },
          name: { type: 'string', description: 'Name of the parent.', minLength: 1, maxLength: 253 },
          sectionName: {
            type: 'string',
            description: 'Name of one listener of the Gateway. Absent: all.',
            minLength: 1,
            maxLength: 253,
          },
          port: { ...port, description: 'One port of the Gateway. Absent: all.' },
        },
        required: ['name'],
      },
      maxItems: 16,
    },
    filters: {
      type: 'array',
      description: 'HTTPRoute filters (headers, redirects), as in the Gateway API. Default: none.',
      items: freeObject,
      maxItems: 16,
    },
  },
  'x-kubernetes-validations': [
    {
      rule: '(has(self.enabled) && !self.enabled) || (has(self.parentRefs) && size(self.parentRefs) > 0)',
      message: 'gateway.parentRefs needs at least one Gateway: name it, or set enabled: false',
      fieldPath: '.parentRefs',
    },
  ],
} as const satisfies Field;
