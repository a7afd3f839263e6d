import { freeObject } from '../entity';
import type { Field, Schema } from '../schema';

/** How the hub is reached, and by whom. */

const annotations = {
  type: 'object',
  additionalProperties: { type: 'string' },
  maxProperties: 64,
} as const satisfies Schema;

const hostPattern = '^(\\*\\.)?[a-z0-9]([a-z0-9-]*[a-z0-9])?(\\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$';

const cidr = {
  type: 'string',
  pattern: '^[0-9A-Fa-f:.]+/[0-9]{1,3}$',
  maxLength: 64,
} as const satisfies Schema;

const port = { type: 'integer', format: 'int32', minimum: 1, maximum: 65535 } as const satisfies Schema;

/** The block alone switches it on; `enabled: false` switches it off and keeps the rest of the block. */
const enabledByPresence = { type: 'boolean', default: true } as const satisfies Schema;

const onlyLoadBalancer = <const Name extends string>(name: Name) =>
  ({
    rule: `!has(self.${name}) || (has(self.type) && self.type == 'LoadBalancer')`,
    message: `service.${name} works only with service.type LoadBalancer: set it, or remove ${name}`,
    fieldPath: `.${name}`,
  }) as const;

const onlyOutside = <const Name extends string>(name: Name) =>
  ({
    rule: `!has(self.${name}) || (has(self.type) && self.type in ['NodePort', 'LoadBalancer'])`,
    message: `service.${name} works only with service.type NodePort or LoadBalancer: set one, or remove ${name}`,
    fieldPath: `.${name}`,
  }) as const;

export const service = {
  type: 'object',
  description: 'The Service `<hub>` in front of the hub.',
  default: {},
  properties: {
    type: {
      type: 'string',
      description:
        'ClusterIP (default): inside the cluster. NodePort: on a port of every node. LoadBalancer: on an address of its own.',
      enum: ['ClusterIP', 'NodePort', 'LoadBalancer'],
      default: 'ClusterIP',
    },
    port: {
      ...port,
      description: 'Port of the Service. The hub’s pod always listens on 8123. Default 8123.',
      default: 8123,
    },
    nodePort: {
      ...port,
      description: 'Port on the nodes, with type NodePort or LoadBalancer. Absent: the cluster chooses one.',
    },
    annotations: {
      ...annotations,
      description: 'Annotations of the Service, for load balancers and the like. Default: none.',
    },
    loadBalancerClass: {
      type: 'string',
      description: 'Which load balancer serves it, with type LoadBalancer. Absent: the cluster’s default.',
      minLength: 1,
      maxLength: 253,
    },
    loadBalancerSourceRanges: {
      type: 'array',
      description: 'Addresses that may come, as CIDR, with type LoadBalancer. Default: all.',
      items: cidr,
      maxItems: 256,
    },
    externalTrafficPolicy: {
      type: 'string',
      description:
        'Cluster: any node forwards to the hub. Local: only the hub’s node does, and the hub sees the visitor’s ' +
        'address. With type NodePort or LoadBalancer. Absent: Cluster.',
      enum: ['Cluster', 'Local'],
    },
  },
  'x-kubernetes-validations': [
    onlyOutside('nodePort'),
    onlyOutside('externalTrafficPolicy'),
    onlyLoadBalancer('loadBalancerClass'),
    onlyLoadBalancer('loadBalancerSourceRanges'),
  ],
} as const satisfies Field;

export const ingress = {
  type: 'object',
  description:
    'The Ingress `<hub>`. The hub also needs the controller’s address in `http.trusted_proxies`. Absent: none.',
  properties: {
    enabled: {
      ...enabledByPresence,
      description: 'False: no Ingress. Default true when the block is there.',
    },
    host: {
      type: 'string',
      description:
        'Host name under which the hub is reached, such as `home.example.org`. Needed when enabled.',
      pattern: hostPattern,
      maxLength: 253,
    },
    ingressClassName: {
      type: 'string',
      description: 'Class of the Ingress. Absent: the cluster’s default.',
      minLength: 1,
      maxLength: 253,
    },
    annotations: {
      ...annotations,
      description: 'Annotations of the Ingress, for its controller. Default: none.',
    },
    tls: {
      type: 'object',
      description: 'Encryption (HTTPS). Absent: plain HTTP.',
      properties: {
        enabled: {
          ...enabledByPresence,
          description: 'False: plain HTTP. Default true when the block is there.',
        },
        secretName: {
          type: 'string',
          description:
            'Secret with the certificate (`tls.crt`, `tls.key`). One that you bring wins over `issuerRef`. Default with ' +
            '`issuerRef`: `<hub>-tls`.',
          minLength: 1,
          maxLength: 253,
        },
        issuerRef: {
          type: 'object',
          description:
            'The cert-manager issuer that makes the certificate. Without cert-manager the hub stays on HTTP.',
          properties: {
            name: { type: 'string', description: 'Name of the issuer.', minLength: 1, maxLength: 253 },
            kind: {
              type: 'string',
              description: 'Issuer (default) or ClusterIssuer, or the kind of an external issuer.',
              minLength: 1,
              maxLength: 63,
              default: 'Issuer',
            },
            group: {
              type: 'string',
              description: 'API group of the issuer. Default cert-manager.io.',
              minLength: 1,
              maxLength: 253,
              default: 'cert-manager.io',
            },
          },
          required: ['name'],
        },
      },
      'x-kubernetes-validations': [
        {
          rule: '(has(self.enabled) && !self.enabled) || has(self.secretName) || has(self.issuerRef)',
          message: 'ingress.tls needs a certificate: set secretName or issuerRef, or enabled: false',
          fieldPath: '.secretName',
        },
      ],
    },
  },
  'x-kubernetes-validations': [
    {
      rule: '(has(self.enabled) && !self.enabled) || has(self.host)',
      message: 'ingress.host is needed: set the host name of the hub, or enabled: false',
      fieldPath: '.host',
    },
  ],
} as const satisfies Field;

export const gateway = {
  type: 'object',
  description: 'The HTTPRoute `<hub>` of the Gateway API, made where its CRDs exist. Absent: none.',
  properties: {
    enabled: {
      ...enabledByPresence,
      description: 'False: no HTTPRoute. Default true when the block is there.',
    },
    hostnames: {
      type: 'array',
      description: 'Host names under which the hub is reached. Default: those of the Gateway.',
      items: { type: 'string', pattern: hostPattern, maxLength: 253 },
      maxItems: 16,
    },
    parentRefs: {
      type: 'array',
      description: 'The Gateways that the route attaches to. At least one is needed when enabled.',
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
            description: 'The one listener of the Gateway that is meant. Absent: all.',
            minLength: 1,
            maxLength: 253,
          },
          port: { ...port, description: 'The one port of the Gateway that is meant. Absent: all.' },
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
          key: { type: 'string', description: 'The label.', minLength: 1, maxLength: 317 },
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
    'The NetworkPolicy `<hub>`, which closes the hub’s pod to all but the operator and `from`. Default: none.',
  default: {},
  properties: {
    enabled: { type: 'boolean', description: 'True: the policy is made. Default false.', default: false },
    from: {
      type: 'array',
      description:
        'Who may reach the hub besides the operator, as in a NetworkPolicy; your ingress controller belongs here. Default: nobody.',
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
                description: 'Ranges inside it that may not come.',
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
