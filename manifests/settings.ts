import { version } from '../package.json';
import { NAMESPACE } from './names';

/**
 * The namespaces in which the operator works: all, or those that have the rights of `dist/watched-namespace`.
 */
export type Scope = 'cluster' | 'namespaced';

/** Who makes the certificate of the webhook: the operator itself, or cert-manager. */
export const webhookCertificates = ['self-signed', 'cert-manager'] as const;
export type WebhookCertificate = (typeof webhookCertificates)[number];

/** The value of WEBHOOK_CERTIFICATE for an installation without a webhook. */
export const NO_WEBHOOK = 'none';

/** Resource quantities in the notation of Kubernetes. */
interface Resources {
  readonly requests: { readonly cpu: string; readonly memory: string };
  /** There is no CPU limit, which would only slow the operator down when it starts. */
  readonly limits: { readonly memory: string };
}

/** The settings of the synth: everything in which installations differ. */
export interface SynthSettings {
  /** Image of the operator with its tag or digest. */
  readonly image: string;
  /** The namespace in which the operator runs. */
  readonly namespace: string;
  readonly scope: Scope;
  /** The namespaces in which the operator works with the scope `namespaced`. */
  readonly watchNamespaces: readonly string[];
  /** undefined without a webhook; the operator then finds the same faults later. */
  readonly webhook: WebhookCertificate | undefined;
  /** Whether objects for the Prometheus operator and Grafana belong to the installation; their CRDs may be absent. */
  readonly monitoring: boolean;
  /** One replica works, the others are on standby. */
  readonly replicas: number;
  readonly resources: Resources;
}

/** The settings of `dist/install.yaml`. */
export const defaultSettings: SynthSettings = {
  // No image is published. The domain `invalid` never resolves, so that no other party can publish an image
  // of this name. A release names its image by the digest.
  image: `registry.invalid/hub-operator:${version}`,
  namespace: NAMESPACE,
  scope: 'cluster',
  watchNamespaces: [],
  webhook: 'self-signed',
  monitoring: false,
  replicas: 1,
  resources: {
    // The request is the memory of an idle operator. The limit is above the worst figure in
    // docs/reference/figures.md.
    requests: { cpu: '20m', memory: '128Mi' },
    limits: { memory: '384Mi' },
  },
};

/**
 * The defaults, changed by the environment variables `IMAGE` and `WEBHOOK_CERTIFICATE`.
 *
 * @throws Error a variable has a value that is not accepted
 */
export function readSynthSettings(environment: Readonly<Record<string, string | undefined>>): SynthSettings {
  const { IMAGE: image = defaultSettings.image, WEBHOOK_CERTIFICATE: certificate } = environment;
  const webhook = certificate ? webhookOf(certificate) : defaultSettings.webhook;
  return { ...defaultSettings, image, webhook };
}

/** Returns the settings of an operator that works only in some namespaces. */
export function namespaced(settings: SynthSettings): SynthSettings {
  // The operator has no rights in the whole cluster, so it cannot write the CA into the webhook registration.
  const webhook = settings.webhook === 'self-signed' ? undefined : settings.webhook;
  return { ...settings, scope: 'namespaced', watchNamespaces: ['default'], webhook };
}

function webhookOf(value: string): WebhookCertificate | undefined {
  if (value === NO_WEBHOOK) return undefined;
  const found = webhookCertificates.find((each) => each === value);
  if (found) return found;
  throw new Error(
    `WEBHOOK_CERTIFICATE=${value}: one of ${[...webhookCertificates, NO_WEBHOOK].join(', ')} is accepted`,
  );
}
