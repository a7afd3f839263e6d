import type { ResourceType } from './objects';

const resource = <const Kind extends string>(group: string, plural: string, kind: Kind) =>
  ({ group, version: 'v1', plural, kind }) as const satisfies ResourceType;

/** The built-in resources that the operator reads or writes. */
export const builtin = {
  ConfigMap: resource('', 'configmaps', 'ConfigMap'),
  Secret: resource('', 'secrets', 'Secret'),
  Namespace: resource('', 'namespaces', 'Namespace'),
  Service: resource('', 'services', 'Service'),
  PersistentVolumeClaim: resource('', 'persistentvolumeclaims', 'PersistentVolumeClaim'),
  Pod: resource('', 'pods', 'Pod'),
  Event: resource('', 'events', 'Event'),
  StatefulSet: resource('apps', 'statefulsets', 'StatefulSet'),
  Ingress: resource('networking.k8s.io', 'ingresses', 'Ingress'),
  NetworkPolicy: resource('networking.k8s.io', 'networkpolicies', 'NetworkPolicy'),
  ValidatingWebhookConfiguration: resource(
    'admissionregistration.k8s.io',
    'validatingwebhookconfigurations',
    'ValidatingWebhookConfiguration',
  ),
  Lease: resource('coordination.k8s.io', 'leases', 'Lease'),
};

export type Builtin = keyof typeof builtin;

/** Resource types of optional APIs, which the operator writes if their CRDs are installed. */
export const optional = {
  Certificate: resource('cert-manager.io', 'certificates', 'Certificate'),
  HTTPRoute: resource('gateway.networking.k8s.io', 'httproutes', 'HTTPRoute'),
};
