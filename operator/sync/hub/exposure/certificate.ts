import type { Condition } from '../../../kinds/condition';
import type { Hub } from '../../../kinds/index';
import { objectNames } from '../../../kinds/object-names';
import type { Manifest } from '../../../runtime/apply';
import type { ClusterObject } from '../../../runtime/objects';
import type { ConditionValue } from '../../../runtime/outcome';
import { selectorOf } from '../../hub-workload/owned-objects';

/** A Certificate as cert-manager has answered to it. */
export interface Certificate extends ClusterObject {
  readonly status?: { readonly conditions?: readonly Condition[] };
}

/** The Certificate of the Ingress for a host, issued into the Secret `secretName`. */
export function certificateOf(
  hub: Hub,
  host: string | undefined,
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

/** What cert-manager says against a Certificate; undefined: it is Ready. One that is renewed stays Ready. */
export function notIssued({ metadata, status }: Certificate): ConditionValue | undefined {
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
  // After a failure this one has the words of the issuer, and Ready only that there is no Secret yet.
  const issuing = conditions.find(({ type }) => type === 'Issuing');
  const { reason: cause, message: words } = issuing?.status === 'False' ? issuing : ready;
  // A new Certificate has no Issuing yet, and Ready says that there is no Secret.
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
