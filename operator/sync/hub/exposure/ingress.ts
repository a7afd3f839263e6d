import type { Hub, HubSpec } from '../../../kinds/index';
import { objectNames } from '../../../kinds/object-names';
import type { Manifest } from '../../../runtime/apply';
import { selectorOf, SERVICE_PORT } from './service';

export type IngressSpec = NonNullable<HubSpec['ingress']>;

/** Where the certificate of the Ingress comes from. */
export type TlsSource =
  | { readonly type: 'none' }
  /** A Secret that the user brings, which wins over an issuer. */
  | { readonly type: 'own'; readonly secretName: string }
  | { readonly type: 'issued'; readonly secretName: string; readonly issuerRef: object };

export function tlsSourceOf(hub: Hub, { tls }: IngressSpec): TlsSource {
  if (!tls?.enabled) return { type: 'none' };
  if (tls.secretName) return { type: 'own', secretName: tls.secretName };
  if (!tls.issuerRef) return { type: 'none' };
  return { type: 'issued', secretName: objectNames(hub.metadata.name).certificate, issuerRef: tls.issuerRef };
}

/** `secretName`: of the certificate; without one the Ingress is plain HTTP. */
export function ingressOf(hub: Hub, wish: IngressSpec, secretName: string | undefined): Manifest {
  const { name, namespace } = hub.metadata;
  const { host, ingressClassName, annotations } = wish;
  const service = { name: objectNames(name).workload, port: { name: SERVICE_PORT } };
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: {
      name: objectNames(name).workload,
      namespace,
      labels: selectorOf(hub),
      ...(annotations && { annotations }),
    },
    spec: {
      ...(ingressClassName !== undefined && { ingressClassName }),
      ...(secretName !== undefined && { tls: [{ hosts: [host], secretName }] }),
      rules: [{ host, http: { paths: [{ path: '/', pathType: 'Prefix', backend: { service } }] } }],
    },
  };
}

export function certificateOf(
  hub: Hub,
  { host }: IngressSpec,
  secretName: string,
  issuerRef: object,
): Manifest {
  const { name, namespace } = hub.metadata;
  return {
    apiVersion: 'cert-manager.io/v1',
    kind: 'Certificate',
    metadata: { name: objectNames(name).workload, namespace, labels: selectorOf(hub) },
    spec: { secretName, dnsNames: [host], issuerRef },
  };
}
