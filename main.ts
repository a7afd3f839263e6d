import { App } from 'cdk8s';
import { WatchedNamespace } from './manifests/access';
import { CustomResourceDefinitions } from './manifests/crds';
import { Operator } from './manifests/operator';
import { AdmissionWebhook, type WebhookCertificate, webhookCertificates } from './manifests/webhook';
import { version } from './package.json';

const app = new App();
const image = process.env['IMAGE'] ?? `ghcr.io/hub-operator/hub-operator:${version}`;
const webhook = webhookCertificate(process.env['WEBHOOK_CERTIFICATE']);
new CustomResourceDefinitions(app);
new Operator(app, { image, scope: 'cluster', webhook });
// It has no rights in the whole cluster, so that it cannot write the CA into the registration of its webhook.
new Operator(app, { image, scope: 'namespaced', webhook: webhook === 'self-signed' ? undefined : webhook });
new WatchedNamespace(app);
new AdmissionWebhook(app, webhook);
app.synth();

function webhookCertificate(value = 'self-signed'): WebhookCertificate {
  const found = webhookCertificates.find((each) => each === value);
  if (found) return found;
  throw new Error(`WEBHOOK_CERTIFICATE=${value}: one of ${webhookCertificates.join(', ')} is accepted.`);
}
