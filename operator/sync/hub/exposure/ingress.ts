import { DEPENDENCY_REQUEUE } from '../../../base/limits';
import type { Hub, HubSpec } from '../../../kinds/index';
import { objectNames } from '../../../kinds/object-names';
import type { Manifest } from '../../../runtime/apply';
import type { Discovery } from '../../../runtime/discovery';
import type { EventSpec } from '../../../runtime/event-spec';
import type { ConditionValue } from '../../../runtime/outcome';
import { conditionOf } from '../../../runtime/conditions';
import { builtin, optional } from '../../../runtime/types';
import type { Services } from '../../services';
import type { WorkloadStep } from '../continue-on-failure';
import { selectorOf, SERVICE_PORT } from '../../hub-workload/owned-objects';
import { requeueAfter } from '../steps';
import { type Certificate, certificateOf, notIssued } from './certificate';
import { ensureObject, ensureOptionalObject } from './ensure-object';
import { notExposed } from './trusted-proxies';

type IngressSpec = NonNullable<HubSpec['ingress']>;

/** Where the certificate of the Ingress comes from. */
type TlsSource =
  | { readonly type: 'none' }
  /** A Secret that the user brings, which wins over an issuer. */
  | { readonly type: 'own'; readonly secretName: string }
  | { readonly type: 'issued'; readonly secretName: string; readonly issuerRef: object };

/**
 * Ensures the Ingress of `spec.ingress` and its Certificate, and that there are none without it. Leaves the condition
 * `CertManagerAvailable` where an issuer is named: without cert-manager the Ingress serves HTTP (rules.md, "Certificate
 * manager"). A certificate that is not issued is left in the condition `Exposed`.
 */
export function ensureIngress(
  services: Pick<Services, 'applier' | 'cache'>,
  discovery: Discovery,
): WorkloadStep {
  return {
    name: 'Ingress',
    async run(context) {
      const { hub, spec, conditions, events } = context;
      const desired = spec.ingress?.enabled ? spec.ingress : undefined;
      const tls: TlsSource = desired ? tlsSourceOf(hub, desired) : { type: 'none' };
      const issued = tls.type === 'issued' ? tls : undefined;
      const { isServed: installed, object: certificate } = await ensureOptionalObject<Certificate>(
        services,
        discovery,
        hub,
        optional.Certificate,
        desired && issued && certificateOf(hub, desired.host, issued.secretName, issued.issuerRef),
      );
      const secretName = tls.type === 'none' || (issued && !installed) ? undefined : tls.secretName;
      await ensureObject(services, hub, builtin.Ingress, desired && ingressOf(hub, desired, secretName));
      conditions['CertManagerAvailable'] = issued
        ? installed
          ? certManagerInstalled
          : certManagerMissing
        : null;
      if (!issued) return {};
      const problem = certificate && notIssued(certificate);
      if (problem) conditions['Exposed'] ??= problem;
      // Neither the Certificate nor its definition is watched.
      if (problem || !installed) requeueAfter(context, DEPENDENCY_REQUEUE);
      if (installed) return {};
      if (conditionOf(hub, 'CertManagerAvailable')?.status !== 'False') events.push(certManagerUnavailable);
      return {};
    },
    present({ spec, conditions }, failure) {
      if (spec.ingress?.enabled) conditions['Exposed'] ??= notExposed(failure);
      return {};
    },
  };
}

function tlsSourceOf(hub: Hub, { tls }: IngressSpec): TlsSource {
  if (!tls?.enabled) return { type: 'none' };
  if (tls.secretName) return { type: 'own', secretName: tls.secretName };
  if (!tls.issuerRef) return { type: 'none' };
  return { type: 'issued', secretName: objectNames(hub.metadata.name).certificate, issuerRef: tls.issuerRef };
}

/** @param secretName of the certificate; without one the Ingress serves plain HTTP */
function ingressOf(hub: Hub, ingress: IngressSpec, secretName: string | undefined): Manifest {
  const { name, namespace } = hub.metadata;
  const { host, ingressClassName, annotations } = ingress;
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

const certManagerInstalled: ConditionValue = {
  status: 'True',
  reason: 'CertManagerInstalled',
  message: 'cert-manager issues the certificate: see the Certificate of the same name for its state.',
};

const certManagerMissing: ConditionValue = {
  status: 'False',
  reason: 'CertManagerNotInstalled',
  message:
    'spec.ingress.tls.issuerRef needs cert-manager, which is not installed: the hub is served over HTTP until it is.',
};

const certManagerUnavailable: EventSpec = {
  type: 'Warning',
  reason: 'CertManagerUnavailable',
  message: certManagerMissing.message,
};
