import { DEPENDENCY_REQUEUE } from '../../../base/limits';
import type { Hub, HubSpec } from '../../../kinds';
import { objectNames } from '../../../kinds/object-names';
import type { Manifest } from '../../../runtime/apply';
import type { Discovery } from '../../../runtime/discovery';
import { condition, type ConditionValue } from '../../../runtime/outcome';
import { conditionOf } from '../../../runtime/conditions';
import { builtin, optional } from '../../../runtime/types';
import type { Services } from '../../services';
import { type HubContext, requeueAfter, type WorkloadStep } from '../steps';
import { SERVICE_PORT, workloadManifest } from '../../hub-pod/owned-objects';
import { ensureObject, ensureOptionalObject } from './ensure-object';
import { notExposed } from './trusted-proxies';
import type { Condition } from '../../../kinds/condition';
import type { ClusterObject } from '../../../runtime/objects';

type IngressSpec = NonNullable<HubSpec['ingress']>;

/** The source of the Ingress's certificate. */
type TlsSource =
  | { readonly type: 'none' }
  /** A Secret that the user provides. It takes precedence over an issuer. */
  | { readonly type: 'own'; readonly secretName: string }
  | { readonly type: 'issued'; readonly secretName: string; readonly issuerRef: object };

/**
 * Ensures the Ingress of `spec.ingress` and its Certificate, or removes them if no ingress is enabled. Sets
 * the condition `CertManagerAvailable` if an issuer is named: without cert-manager the Ingress serves HTTP
 * (rules.md, "Certificate manager"). A certificate that is not issued is reported in the condition `Exposed`.
 */
export function ensureIngress(
  services: Pick<Services, 'applier' | 'cache'>,
  discovery: Discovery,
): WorkloadStep {
  return {
    name: 'Ingress',
    async run(context) {
      const { hub, spec } = context;
      const desired = spec.ingress?.enabled ? spec.ingress : undefined;
      const tls: TlsSource = desired ? tlsSourceOf(hub, desired) : { type: 'none' };
      const certificate = desired && certificateOf(hub, desired, tls);
      const issued = await ensureOptionalObject<Certificate>(
        services,
        discovery,
        hub,
        optional.Certificate,
        certificate,
      );
      const secretName =
        tls.type === 'none' || (certificate && !issued.isServed) ? undefined : tls.secretName;
      const manifest = desired && ingressOf(hub, desired, secretName);
      const ingress = await ensureObject<Ingress>(services, hub, builtin.Ingress, manifest);
      context.ingressAddress = ingress && addressOf(ingress);
      context.conditions['CertManagerAvailable'] = null;
      if (certificate) reportCertificate(context, issued);
      return {};
    },
    present({ spec, conditions }, failure) {
      if (spec.ingress?.enabled) conditions['Exposed'] ??= notExposed(failure);
      return {};
    },
  };
}

/** @returns undefined when no issuer is named */
function certificateOf(hub: Hub, { host }: IngressSpec, tls: TlsSource): Manifest | undefined {
  if (tls.type !== 'issued') return undefined;
  const { secretName, issuerRef } = tls;
  return workloadManifest(optional.Certificate, hub, { secretName, dnsNames: [host], issuerRef });
}

/** Sets conditions and events about a Certificate that is desired. */
function reportCertificate(
  context: HubContext,
  {
    isServed: isInstalled,
    object: certificate,
  }: { readonly isServed: boolean; readonly object?: Certificate },
): void {
  const { hub, conditions, events } = context;
  conditions['CertManagerAvailable'] = isInstalled ? certManagerInstalled : certManagerMissing;
  const problem = certificate && notIssued(certificate);
  if (problem) conditions['Exposed'] ??= problem;
  // Neither the Certificate nor its CRD is watched, so both are polled.
  if (problem || !isInstalled) requeueAfter(context, DEPENDENCY_REQUEUE);
  if (!isInstalled && conditionOf(hub, 'CertManagerAvailable')?.status !== 'False')
    events.push({
      type: 'Warning',
      reason: 'CertManagerUnavailable',
      message: certManagerMissing.message,
    });
}

function tlsSourceOf(hub: Hub, { tls }: IngressSpec): TlsSource {
  if (!tls?.enabled) return { type: 'none' };
  if (tls.secretName) return { type: 'own', secretName: tls.secretName };
  if (!tls.issuerRef) return { type: 'none' };
  return { type: 'issued', secretName: objectNames(hub.metadata.name).certificate, issuerRef: tls.issuerRef };
}

/** @param secretName Secret with the certificate; if undefined, the Ingress serves plain HTTP */
function ingressOf(hub: Hub, ingress: IngressSpec, secretName: string | undefined): Manifest {
  const { host, ingressClassName, annotations } = ingress;
  const service = { name: objectNames(hub.metadata.name).workload, port: { name: SERVICE_PORT } };
  const spec = {
    ingressClassName,
    ...(secretName !== undefined && { tls: [{ hosts: [host], secretName }] }),
    rules: [{ host, http: { paths: [{ path: '/', pathType: 'Prefix', backend: { service } }] } }],
  };
  return workloadManifest(builtin.Ingress, hub, spec, annotations);
}

/** An Ingress with the answer of its controller. */
interface Ingress extends ClusterObject {
  readonly status?: {
    readonly loadBalancer?: {
      readonly ingress?: readonly { readonly ip?: string; readonly hostname?: string }[];
    };
  };
}

/**
 * The addresses that the ingress controller has reported.
 *
 * @returns undefined when there are none: some controllers never report an address
 */
function addressOf({ status }: Ingress): string | undefined {
  const addresses = (status?.loadBalancer?.ingress ?? []).flatMap(({ ip, hostname }) => hostname ?? ip ?? []);
  return addresses.join(', ') || undefined;
}

const certManagerInstalled = condition(
  'True',
  'CertManagerInstalled',
  'cert-manager issues the certificate: see the Certificate of the same name for its state.',
);

const certManagerMissing = condition(
  'False',
  'CertManagerNotInstalled',
  'spec.ingress.tls.issuerRef needs cert-manager, which is not installed: the hub is served over HTTP until it is.',
);

/** A Certificate with the state that cert-manager has reported. */
interface Certificate extends ClusterObject {
  readonly status?: { readonly conditions?: readonly Condition[] };
}

/**
 * The condition for a Certificate that is not Ready.
 *
 * @returns undefined when it is Ready, which it also is while being renewed
 */
function notIssued({ metadata, status }: Certificate): ConditionValue | undefined {
  const { name, generation } = metadata;
  const reason = 'CertificateNotReady';
  const conditions = status?.conditions ?? [];
  const ready = conditions.find(
    ({ type, observedGeneration = generation }) => type === 'Ready' && observedGeneration === generation,
  );
  if (!ready) {
    const message = `Waiting for cert-manager to issue the Certificate ${name}.`;
    return { status: 'Unknown', reason, message };
  }
  if (ready.status === 'True') return undefined;
  // After a failure the condition Issuing has the message of the issuer. Ready only says that there is no
  // Secret yet.
  const issuing = conditions.find(({ type }) => type === 'Issuing');
  const { reason: cause, message: words } = issuing?.status === 'False' ? issuing : ready;
  // A new Certificate has no condition Issuing yet, and Ready says that there is no Secret.
  const isIssuing = issuing ? issuing.status === 'True' : cause === 'DoesNotExist';
  return {
    status: isIssuing ? 'Unknown' : 'False',
    reason,
    message:
      `The Certificate ${name} is not Ready (${cause}${words ? `: ${words}` : ''}): ` +
      (isIssuing
        ? 'cert-manager is issuing it, and its CertificateRequest says what that waits for.'
        : 'correct spec.ingress or the issuer.'),
  };
}
