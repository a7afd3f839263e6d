import { version } from '../package.json';
import { NAMESPACE } from './names';

/** Where the operator works: in all namespaces, or in those that have the rights of `dist/watched-namespace`. */
export type Scope = 'cluster' | 'namespaced';

/** Who makes the certificate of the webhook: the operator itself, or cert-manager. */
export const webhookCertificates = ['self-signed', 'cert-manager'] as const;
export type WebhookCertificate = (typeof webhookCertificates)[number];

/** In their place: there is no webhook. */
export const NO_WEBHOOK = 'none';

/** Quantities, as Kubernetes writes them. */
interface Resources {
  readonly requests: { readonly cpu: string; readonly memory: string };
  /** Without one of CPU: it would only slow the operator down when it starts. */
  readonly limits: { readonly memory: string };
}

/** The settings of the synth: everything in which one installation differs from another. */
export interface SynthSettings {
  /** Image of the operator with its tag or digest. */
  readonly image: string;
  /** Where the operator runs. */
  readonly namespace: string;
  readonly scope: Scope;
  /** With the scope `namespaced`: where the operator works. */
  readonly watchNamespaces: readonly string[];
  /** undefined: there is no webhook, and the operator finds the same faults later. */
  readonly webhook: WebhookCertificate | undefined;
  /** Whether objects for the Prometheus operator and Grafana belong to the installation; their CRDs may be absent. */
  readonly monitoring: boolean;
  /** One works, the others wait to take over. */
  readonly replicas: number;
  readonly resources: Resources;
}

/** What `dist/install.yaml` is made with. */
export const defaultSettings: SynthSettings = {
  // No image is published. The domain `invalid` never resolves, so that no one else can publish one of this name. A release names it by its digest.
  image: `registry.invalid/hub-operator:${version}`,
  namespace: NAMESPACE,
  scope: 'cluster',
  watchNamespaces: [],
  webhook: 'self-signed',
  monitoring: false,
  replicas: 1,
  resources: {
    // The memory of an operator at rest, and a bound above the worst of docs/reference/figures.md.
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

/** The settings of an operator that works only in some namespaces. */
export function namespaced(settings: SynthSettings): SynthSettings {
  // The operator has no rights in the whole cluster, so it cannot write the CA into the registration of its webhook.
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
