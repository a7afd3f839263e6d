import type { Clock } from '../base/clock';
import { WEBHOOK } from '../kinds/object-names';
import type { Logger } from '../base/log';
import type { Metrics } from '../process/metrics';
import type { ApiClient } from '../runtime/api-client';
import { Informer } from '../runtime/informer';
import type { ClusterObject, ResourceType } from '../runtime/objects';
import { builtin } from '../runtime/types';
import type { Settings } from '../process/settings';
import { readReview, writeReview } from './admission-review';
import { serviceHost, type WebhookConfiguration } from './certificate/ca-bundle';
import { Certificates } from './certificate/certificates';
import type { TlsSecret } from './certificate/check';
import type { ClusterState } from './cluster-state';
import { review } from './review';
import { AdmissionServer } from './server';

interface WebhookOptions {
  readonly settings: Settings;
  readonly cluster: ApiClient;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly state: ClusterState;
}

/** The validating webhook (rules.md, "Admission"). Every replica serves it, from its own cache. */
export class Webhook {
  private server: AdmissionServer | undefined;
  private readonly certificates: Certificates;
  private readonly secret: Informer<TlsSecret>;
  /** Undefined if another program writes the CA into the webhook configuration. */
  private readonly configuration: Informer<WebhookConfiguration> | undefined;

  constructor(private readonly options: WebhookOptions) {
    const { cluster, clock, log, metrics, settings } = options;
    const { podNamespace: namespace, webhookSecret: secretName } = settings;
    const isSelfSigned = settings.webhook === 'self-signed';
    this.secret = this.informer<TlsSecret>(builtin.Secret, secretName, namespace);
    this.configuration = isSelfSigned
      ? this.informer(builtin.ValidatingWebhookConfiguration, settings.webhookConfiguration)
      : undefined;
    this.certificates = new Certificates({
      cluster,
      clock,
      log,
      namespace,
      secretName,
      host: () => (isSelfSigned ? this.host() : undefined),
      secret: () => only(this.secret),
      configuration: () => this.configuration && only(this.configuration),
      recordWrite: (object) =>
        void (object.kind === builtin.Secret.kind
          ? this.secret.recordWrite(object)
          : this.configuration?.recordWrite(object)),
      serve: (serving) => {
        this.server?.use(serving);
        metrics.setCertificateExpiry(serving.notAfter);
      },
    });
  }

  /**
   * Starts to listen. Reviews are answered as soon as there is a certificate. @throws Error a sentence for
   * the user: the port is in use
   */
  async start(): Promise<void> {
    const { log, metrics, settings } = this.options;
    this.server = await AdmissionServer.listen(settings.webhookPort, settings.httpAddress, {
      answer: (body) => this.answer(body),
      onAnswer: (status, seconds) => metrics.countWebhookAnswer(WEBHOOK.path, status, seconds),
      onError: (error) => log.error({ error }, 'bug in a rule of the webhook; please report it'),
      log,
    });
    log.info({ port: this.server.port }, 'webhook is listening');
    this.secret.start();
    this.configuration?.start();
    void this.waitForCacheSync().then(() => this.certificates.handleChange());
  }

  /** This process may write the certificate from now on. */
  lead(): void {
    void this.waitForCacheSync().then(() => this.certificates.lead());
  }

  /**
   * The host name that the API server calls. Its Service may have another name than in `dist/`, such as one
   * with a kustomize prefix.
   */
  private host(): string {
    const { podNamespace, webhookHost } = this.options.settings;
    const configuration = this.configuration && only(this.configuration);
    return (
      webhookHost || (configuration && serviceHost(configuration)) || `${WEBHOOK.service}.${podNamespace}.svc`
    );
  }

  private async waitForCacheSync(): Promise<void> {
    await Promise.all([this.secret.waitForCacheSync(), this.configuration?.waitForCacheSync()]);
  }

  private get isSynced(): boolean {
    return this.secret.synced && (this.configuration?.synced ?? true);
  }

  async stop(): Promise<void> {
    await Promise.all([this.secret.stop(), this.configuration?.stop(), this.certificates.stop()]);
    await this.server?.close();
  }

  private answer(body: Buffer): string {
    const request = readReview(body);
    const verdict = review(request, this.options.state);
    const result = verdict.refusal ? 'refused' : verdict.warnings.length > 0 ? 'warned' : 'admitted';
    this.options.metrics.countReview(request.kind.kind, result);
    return writeReview(request, verdict);
  }

  /** Watches a single object by name: the role permits no more. */
  private informer<T extends ClusterObject>(
    type: ResourceType,
    name: string,
    namespace?: string,
  ): Informer<T> {
    const { cluster, clock, log, metrics } = this.options;
    return new Informer<T>({
      cluster,
      clock,
      log,
      type,
      ...(namespace !== undefined && { namespace }),
      fieldSelector: `metadata.name=${name}`,
      onChange: () => {
        if (this.isSynced) this.certificates.handleChange();
      },
      onFailure: ({ kind }) => metrics.countWatchFailure(kind),
    });
  }
}

function only<T extends ClusterObject>({ store }: Informer<T>): T | undefined {
  const [object] = store.values();
  return object;
}
