import { objectName } from '../fields';
import type { Field } from '../schema';
import { annotations, cidr, port } from './network';

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
        'ClusterIP (default): reachable inside the cluster. NodePort: on a port of every node. LoadBalancer: on its own address.',
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
      description: 'Annotations of the Service, such as those for load balancers. Default: none.',
    },
    loadBalancerClass: objectName(
      'Class of the load balancer, with type LoadBalancer. Absent: the default of the cluster.',
    ),
    loadBalancerSourceRanges: {
      type: 'array',
      description: 'Client addresses that are allowed, as CIDR, with type LoadBalancer. Default: all.',
      items: cidr,
      maxItems: 256,
    },
    externalTrafficPolicy: {
      type: 'string',
      description:
        'Cluster: any node forwards to the hub. Local: only the hub’s node does, and the hub sees the address of the ' +
        'client. With type NodePort or LoadBalancer. Absent: Cluster.',
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
