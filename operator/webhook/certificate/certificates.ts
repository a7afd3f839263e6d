import type { Clock } from '../../clock';
import { errorOf, OperationalError, Stopping } from '../../errors';
import { WEBHOOK_CA_PROPAGATION, WEBHOOK_CERTIFICATE_CHECK, WEBHOOK_CERTIFICATE_RETRY } from '../../limits';
import type { Logger } from '../../log';
import type { ApiClient } from '../../runtime/api-client';
import { isConflict } from '../../runtime/api-errors';
import { Backoff } from '../../runtime/backoff';
import { pathOf } from '../../runtime/objects';
import { builtin } from '../../runtime/types';
import { Timer } from '../../timer';
import { applyAuthorities, hasBundle, trusts, type WebhookConfiguration } from './ca-bundle';
import { checkCertificate, currentAuthorities, type ServingCertificate, type TlsSecret } from './check';
import type { IssuedCertificate } from './issue';
import { WritePacing } from './write-pacing';

export interface CertificatesOptions {
  readonly cluster: ApiClient;
  readonly clock: Clock;
  readonly log: Logger;
  readonly namespace: string;
  readonly secretName: string;
  /** The name or address that the API server calls; undefined: another program makes the certificate. */
  readonly host: string | undefined;
  /** The newest known states; undefined: there is no such object. */
  readonly secret: () => TlsSecret | undefined;
  readonly configuration: () => WebhookConfiguration | undefined;
  /** Records the server's answer to a write, so that the next reconciliation does not read an older state. */
  readonly recordWrite: (object: TlsSecret | WebhookConfiguration) => void;
  /** Makes a certificate for a name or address; `now` in milliseconds since the epoch. Rejects with the signal's reason. */
  readonly issue: (host: string, now: number, signal: AbortSignal) => Promise<IssuedCertificate>;
  /** Gives the server a certificate. */
  readonly serve: (certificate: ServingCertificate) => void;
}

/** The CAs that are trusted at the same time: that of the certificate, and the one before. */
const MOST_AUTHORITIES = 2;

/** No certificate can be for the name that the API server is said to call. */
class UnusableHost extends OperationalError {
  override readonly name = 'UnusableHost';
}

/**
 * Keeps the webhook with a certificate that the API server trusts (rules.md, "Certificate of the webhook"). The leader
 * makes the certificate and tells the API server its CA; every replica serves the certificate in the Secret.
 */
export class Certificates {
  private readonly timer: Timer;
  private leads = false;
  private readonly stopping = new AbortController();
  private running: Promise<void> | undefined;
  private changedAgain = false;
  private served: ServingCertificate | undefined;
  /** The certificate whose CA was seen to be trusted, and since when, by the monotonic clock. */
  private trusted: { readonly certificate: string; readonly since: number } | undefined;
  private lastProblem: string | undefined;
  /** The certificate that could not be written yet: the next try does not make another one. */
  private issued: IssuedCertificate | undefined;
  private readonly failures = new Backoff<'certificate'>(...WEBHOOK_CERTIFICATE_RETRY);
  private readonly secretPacing: WritePacing;
  private readonly bundlePacing: WritePacing;

  constructor(private readonly options: CertificatesOptions) {
    this.timer = new Timer(options.clock);
    this.secretPacing = new WritePacing(options.clock);
    this.bundlePacing = new WritePacing(options.clock);
  }

  /** This process may write from now on. */
  lead(): void {
    this.leads = true;
    this.changed();
  }

  /** The Secret or the webhook configuration may have changed. */
  changed(): void {
    if (this.stopped) return;
    this.changedAgain = true;
    this.running ??= this.run();
  }

  /** Does not wait for a certificate that is being made: the lease is released after this. */
  async stop(): Promise<void> {
    this.stopping.abort(new Stopping('the operator is stopping'));
    this.timer.clear();
    await this.running;
  }

  private get stopped(): boolean {
    return this.stopping.signal.aborted;
  }

  private async run(): Promise<void> {
    while (this.changedAgain && !this.stopped) {
      this.changedAgain = false;
      const delay = await this.reconcile().then(
        (next) => {
          this.failures.forget('certificate');
          return next;
        },
        (thrown: unknown) => this.onError(errorOf(thrown)),
      );
      if (!this.stopped) this.timer.set(delay, () => this.changed());
    }
    this.running = undefined;
  }

  private onError(error: Error): number {
    const { log } = this.options;
    const expected = error instanceof OperationalError;
    if (isConflict(error)) {
      log.debug({ error }, 'certificate of webhook was changed meanwhile');
      return WEBHOOK_CERTIFICATE_RETRY[0];
    }
    if (!(error instanceof Stopping))
      log[expected ? 'warn' : 'error']({ error }, 'failed to renew certificate of webhook, retrying');
    return this.failures.next('certificate');
  }

  /** Returns the milliseconds until the next one, unless something changes before. */
  private async reconcile(): Promise<number> {
    const { clock, host } = this.options;
    const now = clock.now();
    const secret = this.options.secret();
    const checked = checkCertificate(secret, { host, now });
    const isDue = checked.type === 'invalid' || now >= checked.serving.renewAt;
    if (!isDue) this.issued = undefined; // someone else was first
    const pause = isDue ? this.secretPacing.remaining() : 0;
    if (isDue && host !== undefined && this.leads && pause === 0) {
      await this.renew(host, secret, checked.type === 'valid' ? checked.serving : this.served, now);
      this.changedAgain = true;
      return 0;
    }
    if (checked.type === 'valid') {
      this.lastProblem = undefined;
      return this.take(checked.serving, now);
    }
    this.report(checked.problem);
    return pause > 0 ? pause : WEBHOOK_CERTIFICATE_CHECK;
  }

  /**
   * The Secret that is stored counts: a conflict means that another replica or a person was first.
   *
   * @param present the Secret that was found to be due; undefined: there was none
   * @throws UnusableHost no certificate can be for this host
   */
  private async renew(
    host: string,
    present: TlsSecret | undefined,
    former: ServingCertificate | undefined,
    now: number,
  ): Promise<void> {
    const { log, namespace, secretName: name } = this.options;
    this.issued ??= await this.options.issue(host, now, this.stopping.signal);
    const { certificate, key, ca } = this.issued;
    const authorities = [ca, ...currentAuthorities(former?.authorities ?? [], now)].slice(
      0,
      MOST_AUTHORITIES,
    );
    const data = encoded({ 'tls.crt': certificate, 'tls.key': key, 'ca.crt': authorities.join('\n') });
    // A certificate that fails the check must not be written: it would be replaced without end.
    const made = checkCertificate({ metadata: { name }, data }, { host, now });
    if (made.type === 'invalid') {
      this.issued = undefined;
      throw new UnusableHost(`cannot make a certificate for ${host}: ${made.problem}`);
    }
    await this.write(present, data);
    this.issued = undefined;
    this.recordPace(this.secretPacing, 'Secret', name);
    log.info({ kind: 'Secret', namespace, name }, 'renewed certificate of webhook');
  }

  private async write(present: TlsSecret | undefined, data: Readonly<Record<string, string>>): Promise<void> {
    const { cluster, namespace, recordWrite, secretName: name } = this.options;
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
  }

  /** The API server trusts the CA before its certificate is served; a former certificate that it trusts is served until then. */
  private async take(serving: ServingCertificate, now: number): Promise<number> {
    const { host, log } = this.options;
    const next = Math.min(
      host === undefined ? Infinity : await this.publish(serving),
      WEBHOOK_CERTIFICATE_CHECK,
    );
    if (serving.certificate === this.served?.certificate && serving.key === this.served.key) return next;
    const delay = this.isServedTrusted(now) ? this.propagationLeft(serving) : 0;
    if (delay > 0) return Math.min(delay, next);
    this.options.serve(serving);
    this.served = serving;
    log.info({ notAfter: new Date(serving.notAfter).toISOString() }, 'serving certificate of webhook');
    return next;
  }

  /** Returns the milliseconds until it has to be tried again, infinite if it need not be. */
  private async publish({ authorities }: ServingCertificate): Promise<number> {
    const { cluster, log, recordWrite } = this.options;
    const configuration = this.options.configuration();
    if (!this.leads || !configuration || hasBundle(configuration, authorities)) return Infinity;
    const pause = this.bundlePacing.remaining();
    if (pause > 0) return pause;
    const { name } = configuration.metadata;
    const { kind } = builtin.ValidatingWebhookConfiguration;
    const answer = await applyAuthorities(cluster, configuration, authorities);
    recordWrite({ ...answer, kind });
    this.recordPace(this.bundlePacing, kind, name);
    log.info({ name }, 'wrote CA into webhook configuration');
    return Infinity;
  }

  /** A person must find the other program: neither of the two ends this. */
  private recordPace(pacing: WritePacing, kind: string, name: string): void {
    pacing.written();
    if (pacing.isContested)
      this.options.log.warn({ kind, name }, 'another program changes certificate or CA of webhook, pausing');
  }

  /** Whether a certificate is served that the API server still accepts. */
  private isServedTrusted(now: number): boolean {
    const configuration = this.options.configuration();
    const { notAfter = 0, authorities: [authority] = [] } = this.served ?? {};
    return now < notAfter && authority !== undefined && !!configuration && trusts(configuration, authority);
  }

  /** Milliseconds until all API servers trust the certificate; infinite: the leader has not told them its CA yet. */
  private propagationLeft({ authorities: [authority], certificate }: ServingCertificate): number {
    const configuration = this.options.configuration();
    if (this.options.host === undefined || authority === undefined || !configuration) return 0;
    if (!trusts(configuration, authority)) return Infinity;
    const now = this.options.clock.monotonic();
    if (this.trusted?.certificate !== certificate) this.trusted = { certificate, since: now };
    return this.trusted.since + WEBHOOK_CA_PROPAGATION - now;
  }

  /** A problem is logged once, not at each check. */
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
