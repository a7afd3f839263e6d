import { ApiObject } from 'cdk8s';
import { k8s } from 'cdk8s-plus-28';
import { Construct } from 'constructs';
import { validatedKinds } from '../operator/kinds';
import { API_GROUP, API_VERSION } from '../operator/kinds/group';
import { OPERATOR_LABELS, WEBHOOK } from '../operator/kinds/object-names';
import { OPERATOR } from './names';
import type { WebhookCertificate } from './settings';

/** In seconds. While the operator cannot be reached, each write of a resource takes this much longer. */
export const TIMEOUT = 1;

/** The parts of the webhook registration that are equal in all installations. */
export function webhookRegistration() {
  return {
    name: `validate.${API_GROUP}`,
    admissionReviewVersions: ['v1'],
    rules: [
      {
        apiGroups: [API_GROUP],
        apiVersions: [API_VERSION],
        operations: ['CREATE', 'UPDATE'],
        resources: validatedKinds.map(({ plural }) => plural),
        scope: 'Namespaced',
      },
    ],
    // Writes that change only labels or finalizers, as the operator's own do, are not sent to the webhook.
    matchConditions: [
      {
        name: 'spec-changes',
        expression: 'request.operation == "CREATE" || object.spec != oldObject.spec',
      },
    ],
    matchPolicy: 'Equivalent',
    failurePolicy: 'Ignore',
    sideEffects: 'None',
  };
}

/**
 * The webhook registration and the Service to which it refers. Without them the operator finds the same
 * faults later.
 */
export class AdmissionWebhook extends Construct {
  constructor(parent: Construct, certificate: WebhookCertificate, namespace: string) {
    super(parent, 'webhook');

    new k8s.KubeService(this, 'service', {
      metadata: { name: WEBHOOK.service, namespace },
      spec: {
        selector: OPERATOR_LABELS,
        ports: [{ name: 'webhook', port: 443, targetPort: k8s.IntOrString.fromString('webhook') }],
      },
    });

    const isInjected = certificate === 'cert-manager';
    new ApiObject(this, 'configuration', {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: {
        name: WEBHOOK.configuration,
        ...(isInjected && {
          annotations: { 'cert-manager.io/inject-ca-from': `${namespace}/${WEBHOOK.service}` },
        }),
      },
      // `caBundle` is left out: the operator or cert-manager owns that field.
      webhooks: [
        {
          ...webhookRegistration(),
          timeoutSeconds: TIMEOUT,
          clientConfig: {
            service: { name: WEBHOOK.service, namespace, path: WEBHOOK.path, port: 443 },
          },
        },
      ],
    });

    if (isInjected) this.addCertificate(namespace);
  }

  private addCertificate(namespace: string): void {
    const apiVersion = 'cert-manager.io/v1';
    const metadata = { name: WEBHOOK.service, namespace };
    new ApiObject(this, 'issuer', { apiVersion, kind: 'Issuer', metadata, spec: { selfSigned: {} } });
    new ApiObject(this, 'certificate', {
      apiVersion,
      kind: 'Certificate',
      metadata,
      spec: {
        secretName: WEBHOOK.secret,
        // The common name is also that of the issuer, which must not be empty (RFC 5280): cert-manager warns
        // of an empty one.
        commonName: `${OPERATOR} webhook`,
        dnsNames: [`${WEBHOOK.service}.${namespace}.svc`],
        issuerRef: { kind: 'Issuer', name: WEBHOOK.service },
        usages: ['digital signature', 'server auth'],
        privateKey: { algorithm: 'ECDSA', size: 256, rotationPolicy: 'Always' },
      },
    });
  }
}
