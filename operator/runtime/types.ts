import type { ResourceType } from './objects';

/** The built-in resources that the operator reads or writes. */
export const builtin = {
  ConfigMap: { group: '', version: 'v1', plural: 'configmaps', kind: 'ConfigMap' },
  Secret: { group: '', version: 'v1', plural: 'secrets', kind: 'Secret' },
  Namespace: { group: '', version: 'v1', plural: 'namespaces', kind: 'Namespace' },
  Service: { group: '', version: 'v1', plural: 'services', kind: 'Service' },
  PersistentVolumeClaim: {
    group: '',
    version: 'v1',
    plural: 'persistentvolumeclaims',
    kind: 'PersistentVolumeClaim',
  },
  Pod: { group: '', version: 'v1', plural: 'pods', kind: 'Pod' },
  Event: { group: '', version: 'v1', plural: 'events', kind: 'Event' },
  StatefulSet: { group: 'apps', version: 'v1', plural: 'statefulsets', kind: 'StatefulSet' },
  Ingress: { group: 'networking.k8s.io', version: 'v1', plural: 'ingresses', kind: 'Ingress' },
  NetworkPolicy: {
    group: 'networking.k8s.io',
    version: 'v1',
    plural: 'networkpolicies',
    kind: 'NetworkPolicy',
  },
  ValidatingWebhookConfiguration: {
    group: 'admissionregistration.k8s.io',
    version: 'v1',
    plural: 'validatingwebhookconfigurations',
    kind: 'ValidatingWebhookConfiguration',
  },
  Lease: { group: 'coordination.k8s.io', version: 'v1', plural: 'leases', kind: 'Lease' },
} as const satisfies Record<string, ResourceType>;

export type Builtin = keyof typeof builtin;

/** Resources of optional APIs, which the operator writes if their CRDs are installed. */
export const optional = {
  Certificate: { group: 'cert-manager.io', version: 'v1', plural: 'certificates', kind: 'Certificate' },
  HTTPRoute: { group: 'gateway.networking.k8s.io', version: 'v1', plural: 'httproutes', kind: 'HTTPRoute' },
} as const satisfies Record<string, ResourceType>;
