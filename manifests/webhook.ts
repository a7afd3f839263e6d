import { ApiObject } from 'cdk8s';
import { Service } from 'cdk8s-plus-28';
import { Construct } from 'constructs';
import { validatedKinds } from '../operator/kinds';
import { API_GROUP, API_VERSION } from '../operator/kinds/group';
import { OPERATOR_LABELS, WEBHOOK } from '../operator/kinds/object-names';
import { NAMESPACE, OPERATOR } from './names';
import type { WebhookCertificate } from './settings';

/** Seconds. A write of a resource takes this much longer while the operator cannot be reached. */
const TIMEOUT = 2;

const HOST = `${WEBHOOK.service}.${NAMESPACE}.svc`;

/**
 * The registration of the webhook and the Service that leads to it. Without it the operator finds the same faults later.
 */
export class AdmissionWebhook extends Construct {
  constructor(parent: Construct, certificate: WebhookCertificate) {
    super(parent, 'webhook');

    const service = new Service(this, 'service', {
      metadata: { name: WEBHOOK.service, namespace: NAMESPACE, labels: OPERATOR_LABELS },
      ports: [{ name: 'webhook', port: 443, targetPort: WEBHOOK.port }],
    });
    for (const [key, value] of Object.entries(OPERATOR_LABELS)) service.selectLabel(key, value);

    const isInjected = certificate === 'cert-manager';
    new ApiObject(this, 'configuration', {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: {
        name: WEBHOOK.configuration,
        labels: OPERATOR_LABELS,
        ...(isInjected && {
          annotations: { 'cert-manager.io/inject-ca-from': `${NAMESPACE}/${WEBHOOK.service}` },
        }),
      },
      // Without caBundle: the operator or cert-manager owns that field.
      webhooks: [
        {
          name: `validate.${API_GROUP}`,
          admissionReviewVersions: ['v1'],
          clientConfig: {
            service: { name: WEBHOOK.service, namespace: NAMESPACE, path: WEBHOOK.path, port: 443 },
          },
          rules: [
            {
              apiGroups: [API_GROUP],
              apiVersions: [API_VERSION],
              operations: ['CREATE', 'UPDATE'],
              resources: validatedKinds.map(({ plural }) => plural),
              scope: 'Namespaced',
            },
          ],
          // The operator's own writes are finalizers.
          matchConditions: [
            {
              name: 'not-by-the-operator',
              expression: `request.userInfo.username != "system:serviceaccount:${NAMESPACE}:${OPERATOR}"`,
            },
          ],
          matchPolicy: 'Equivalent',
          failurePolicy: 'Ignore',
          sideEffects: 'None',
          timeoutSeconds: TIMEOUT,
        },
      ],
    });

    if (isInjected) this.addCertificate();
  }

  private addCertificate(): void {
    const apiVersion = 'cert-manager.io/v1';
    const metadata = { name: WEBHOOK.service, namespace: NAMESPACE, labels: OPERATOR_LABELS };
    new ApiObject(this, 'issuer', { apiVersion, kind: 'Issuer', metadata, spec: { selfSigned: {} } });
    new ApiObject(this, 'certificate', {
      apiVersion,
      kind: 'Certificate',
      metadata,
      spec: {
        secretName: WEBHOOK.secret,
        dnsNames: [HOST],
        issuerRef: { kind: 'Issuer', name: WEBHOOK.service },
        privateKey: { algorithm: 'ECDSA', size: 256, rotationPolicy: 'Always' },
      },
    });
  }
}
