import type { Clock } from '../../base/clock';
import { errorOf, OperationalError } from '../../base/errors';
import { WEBHOOK_CERTIFICATE_CHECK, WEBHOOK_WRITE_INTERVAL } from '../../base/limits';
import type { Logger } from '../../base/log';
import type { ApiClient } from '../../runtime/api-client';
import { isConflict } from '../../runtime/api-errors';
import { pathOf } from '../../runtime/objects';
import { builtin } from '../../runtime/types';
import { Timer } from '../../base/timer';
import { applyBundle, hasBundle, type WebhookConfiguration } from './ca-bundle';
import { checkCertificate, type ServingCertificate, type TlsSecret } from './check';
import { issueCertificate } from './issue';

interface CertificatesOptions {
  readonly cluster: ApiClient;
  readonly clock: Clock;
  readonly log: Logger;
  readonly namespace: string;
  readonly secretName: string;
  /** The name or address that the API server calls; undefined if another program makes the certificate. */
  readonly host: () => string | undefined;
  /** The newest known Secret; undefined if there is none. */
  readonly secret: () => TlsSecret | undefined;
  readonly configuration: () => WebhookConfiguration | undefined;
  /** Records the API server's answer to a write, so that the next reconcile does not read an older state. */
  readonly recordWrite: (object: TlsSecret | WebhookConfiguration) => void;
  /** Passes a certificate to the HTTPS server. */
  readonly serve: (certificate: ServingCertificate) => void;
}

/** A certificate cannot be issued for the host name that the API server calls. */
class UnusableHost extends OperationalError {
  override readonly name = 'UnusableHost';
}

/**
 * Provides the webhook with a certificate that the API server trusts (rules.md, "Certificate of the
 * webhook"). The leader makes the certificate and writes its CA into the webhook configuration; every replica
 * serves the certificate in the Secret.
 */
export class Certificates {
  private readonly timer: Timer;
  private leads = false;
  private stopped = false;
  private running: Promise<void> | undefined;
  private changedAgain = false;
  private served: ServingCertificate | undefined;
  private lastProblem: string | undefined;
  /** The earliest time of the next write, by the monotonic clock. */
  private nextWrite = -Infinity;

  constructor(private readonly options: CertificatesOptions) {
    this.timer = new Timer(options.clock);
  }

  /** From now on this process may write, because it is the leader. */
  lead(): void {
    this.leads = true;
    this.handleChange();
  }

  /** To be called when the Secret or the webhook configuration may have changed. */
  handleChange(): void {
    if (this.stopped) return;
    this.changedAgain = true;
    this.running ??= this.run();
  }

  /** Waits for a write that is in flight: the lease is released afterwards. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.timer.clear();
    await this.running;
  }

  private async run(): Promise<void> {
    while (this.changedAgain && !this.stopped) {
      this.changedAgain = false;
      const delay = await this.reconcile().catch((thrown: unknown) => this.onError(errorOf(thrown)));
      if (!this.stopped) this.timer.set(delay, () => this.handleChange());
    }
    this.running = undefined;
  }

  private onError(error: Error): number {
    const { log } = this.options;
    if (isConflict(error)) log.debug({ error }, 'certificate of webhook was changed meanwhile');
    else {
      const level = error instanceof OperationalError ? 'warn' : 'error';
      log[level]({ error }, 'failed to renew certificate of webhook, retrying');
    }
    return WEBHOOK_WRITE_INTERVAL;
  }

  /** @returns milliseconds until the next reconcile, if nothing changes before */
  private async reconcile(): Promise<number> {
    const { clock, secret } = this.options;
    const host = this.options.host();
    const now = clock.now();
    let checked = checkCertificate(secret(), { host, now });
    const isDue = checked.type === 'invalid' || now >= checked.serving.renewAt;
    const configuration = this.leads ? this.options.configuration() : undefined;
    const isToldToo =
      checked.type === 'valid' && (!configuration || hasBundle(configuration, checked.serving.ca));
    const writes = host !== undefined && this.leads && (isDue || !isToldToo);
    const pause = writes ? Math.max(0, this.nextWrite - clock.monotonic()) : 0;
    if (writes && pause === 0) {
      // Another program may overwrite Secret or CA after each write: without a pause the two would write in a
      // loop.
      this.nextWrite = clock.monotonic() + WEBHOOK_WRITE_INTERVAL;
      if (isDue) await this.renew(host, now);
      checked = checkCertificate(secret(), { host, now });
      if (checked.type === 'valid') await this.publish(checked.serving);
    }
    if (checked.type === 'valid') this.serve(checked.serving);
    else this.report(checked.problem);
    return pause > 0 ? pause : WEBHOOK_CERTIFICATE_CHECK;
  }

  /**
   * Writes a new certificate. After a conflict, the stored Secret is used: another replica or a person wrote
   * first.
   *
   * @throws UnusableHost a certificate cannot be issued for this host
   */
  private async renew(host: string, now: number): Promise<void> {
    const { cluster, log, namespace, recordWrite, secretName: name } = this.options;
    const present = this.options.secret();
    const { certificate, key, ca } = issueCertificate(host, now);
    const data = encoded({ 'tls.crt': certificate, 'tls.key': key, 'ca.crt': ca });
    // A certificate that fails the check must not be written: it would be replaced in a loop.
    const made = checkCertificate({ metadata: { name }, data }, { host, now });
    if (made.type === 'invalid')
      throw new UnusableHost(`cannot make a certificate for ${host}: ${made.problem}`);
    const answer = await (present
      ? cluster.request<TlsSecret>({
          method: 'PATCH',
          path: pathOf(builtin.Secret, namespace, name),
          contentType: 'application/merge-patch+json',
          body: { metadata: { resourceVersion: present.metadata.resourceVersion }, data },
        })
      : cluster.request<TlsSecret>({
          method: 'POST',
          path: pathOf(builtin.Secret, namespace),
          body: {
            apiVersion: 'v1',
            kind: 'Secret',
            metadata: { name, namespace, labels: { 'app.kubernetes.io/name': 'hub-operator' } },
            type: 'kubernetes.io/tls',
            data,
          },
        }));
    recordWrite({ ...answer, kind: 'Secret' });
    log.info({ kind: 'Secret', namespace, name }, 'renewed certificate of webhook');
  }

  private async publish({ ca }: ServingCertificate): Promise<void> {
    const { cluster, log, recordWrite } = this.options;
    const configuration = this.options.configuration();
    if (!configuration || hasBundle(configuration, ca)) return;
    const answer = await applyBundle(cluster, configuration, ca);
    recordWrite({ ...answer, kind: builtin.ValidatingWebhookConfiguration.kind });
    log.info({ name: configuration.metadata.name }, 'wrote CA into webhook configuration');
  }

  private serve(serving: ServingCertificate): void {
    this.lastProblem = undefined;
    if (serving.certificate === this.served?.certificate && serving.key === this.served.key) return;
    this.options.serve(serving);
    this.served = serving;
    const notAfter = new Date(serving.notAfter).toISOString();
    this.options.log.info({ notAfter }, 'serving certificate of webhook');
  }

  /** Logs a problem once, not at each check. */
  private report(problem: string): void {
    if (problem === this.lastProblem) return;
    this.lastProblem = problem;
    const { log, namespace, secretName: name } = this.options;
    log.warn({ kind: 'Secret', namespace, name, problem }, 'certificate of webhook cannot be used');
  }
}

function encoded(content: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(content).map(([key, text]) => [key, Buffer.from(`${text}\n`).toString('base64')]),
  );
}
