import { freeObject } from '../entity';
import { nonEmptyText, objectName, textUpTo } from '../fields';
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
          group: textUpTo(253, 'API group of the parent. Default gateway.networking.k8s.io.'),
          kind: nonEmptyText(63, 'Kind of the parent. Default Gateway.'),
          namespace: nonEmptyText(63, 'Namespace of the parent. Default: that of the Hub.'),
          name: objectName('Name of the parent.'),
          sectionName: objectName('Name of one listener of the Gateway. Absent: all.'),
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
