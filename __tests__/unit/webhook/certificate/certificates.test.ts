import {
  WEBHOOK_CA_PROPAGATION,
  WEBHOOK_CERTIFICATE_RETRY,
  WEBHOOK_WRITE_CALM,
  WEBHOOK_WRITE_PAUSE,
  WEBHOOK_WRITES_AT_ONCE,
} from '../../../../operator/limits';
import type { ApiRequest } from '../../../../operator/runtime/api-client';
import { ApiServerUnreachable } from '../../../../operator/runtime/api-errors';
import {
  Certificates,
  type CertificatesOptions,
} from '../../../../operator/webhook/certificate/certificates';
import type { WebhookConfiguration } from '../../../../operator/webhook/certificate/ca-bundle';
import {
  checkCertificate,
  type ServingCertificate,
  type TlsSecret,
} from '../../../../operator/webhook/certificate/check';
import { ManualClock, settle } from '../../manual-clock';
import { conflict, FakeApiClient } from '../../runtime/fake-api-client';
import { RecordingLog } from '../../runtime/recording-log';
import { HOST, issueCertificate, textOf, tlsSecret } from './authority';

const DAY = 24 * 3_600_000;
const DAMAGED = '-----BEGIN CERTIFICATE-----\ngarbage\n-----END CERTIFICATE-----';

/** The Secret and the webhook configuration of the API server, with their optimistic locks. */
class Server {
  secret: TlsSecret | undefined;
  configuration: WebhookConfiguration | undefined = {
    metadata: { name: 'hub-operator', resourceVersion: '1' },
    webhooks: [{ name: 'w.example.org', clientConfig: {} }],
  };
  failing = false;
  readonly writes: string[] = [];
  private version = 1;

  serve({ method, path, body }: ApiRequest): unknown {
    if (this.failing) throw new ApiServerUnreachable('no answer');
    const kind = path.includes('secrets') ? 'Secret' : 'configuration';
    const { metadata, data, webhooks } = body as TlsSecret & WebhookConfiguration;
    const present = kind === 'Secret' ? this.secret : this.configuration;
    const isLost =
      method === 'POST' ? present : metadata.resourceVersion !== present?.metadata.resourceVersion;
    if (isLost) throw conflict();
    this.writes.push(`${method} ${kind}`);
    const stored = { ...present, metadata: { ...metadata, resourceVersion: String(++this.version) } };
    if (kind === 'Secret') return (this.secret = { ...stored, data: { ...this.secret?.data, ...data } });
    return (this.configuration = { ...stored, webhooks: webhooks! });
  }

  get bundle(): string {
    const [webhook] = this.configuration!.webhooks!;
    return Buffer.from(webhook!.clientConfig.caBundle ?? '', 'base64').toString('utf8');
  }

  /** Another client writes the Secret. */
  put(secret: TlsSecret | undefined): void {
    this.secret = secret && {
      ...secret,
      metadata: { ...secret.metadata, resourceVersion: String(++this.version) },
    };
  }
}

/** One replica with its own view of the server, which is as new as the test lets it be. */
class Replica {
  readonly served: ServingCertificate[] = [];
  readonly log = new RecordingLog();
  readonly certificates: Certificates;
  issue: CertificatesOptions['issue'] = issueCertificate;
  /** How often a certificate was made, or was to be made. */
  issues = 0;
  private seen: { secret: TlsSecret | undefined; configuration: WebhookConfiguration | undefined };

  constructor(
    private readonly server: Server,
    readonly clock: ManualClock,
    host: string | undefined,
  ) {
    this.seen = { secret: server.secret, configuration: server.configuration };
    this.certificates = new Certificates({
      cluster: new FakeApiClient(clock, (request) => server.serve(request)),
      clock,
      log: this.log,
      namespace: 'hub-operator',
      secretName: 'hub-operator-webhook-tls',
      host,
      secret: () => this.seen.secret,
      configuration: () => this.seen.configuration,
      issue: (host, now, signal) => {
        this.issues += 1;
        return this.issue(host, now, signal);
      },
      recordWrite: (object) => {
        if (object.kind === 'Secret') this.seen.secret = object;
        else this.seen.configuration = object;
      },
      serve: (serving) => void this.served.push(serving),
    });
  }

  /** The watches deliver the present state. */
  async watch(): Promise<void> {
    this.seen = { secret: this.server.secret, configuration: this.server.configuration };
    this.certificates.changed();
    await this.rest();
  }

  async lead(): Promise<void> {
    this.certificates.lead();
    await this.rest();
  }

  /** Keys are made by threads of OpenSSL, which no clock knows. */
  async rest(): Promise<void> {
    const running = () => (this.certificates as unknown as { running: Promise<void> | undefined }).running;
    for (let current = running(); current; current = running()) await current;
    await settle();
  }

  get current(): ServingCertificate | undefined {
    return this.served.at(-1);
  }
}

const replicas: Replica[] = [];
afterEach(async () => {
  for (const replica of replicas.splice(0)) await replica.certificates.stop();
});

function start(server: Server, clock = new ManualClock(), host = HOST): Replica {
  const replica = new Replica(server, clock, host);
  replicas.push(replica);
  return replica;
}

/** A leader that serves. */
async function established() {
  const server = new Server();
  const clock = new ManualClock();
  const leader = start(server, clock);
  await leader.lead();
  return { server, clock, leader, first: leader.current! };
}

describe('Certificates', () => {
  test('the leader makes a certificate, tells the API server its CA, and serves it', async () => {
    const { server, leader, first } = await established();
    expect(server.writes).toEqual(['POST Secret', 'PATCH configuration']);
    expect(server.bundle).toBe(`${first.authorities[0]}\n`);
    expect(textOf(server.secret!, 'tls.crt')).toBe(`${first.certificate.trim()}\n`);
    await leader.watch();
    expect(server.writes).toHaveLength(2);
    expect(leader.served).toHaveLength(1);
  });

  test('a standby replica writes nothing and serves what the Secret has', async () => {
    const server = new Server();
    const standby = start(server);
    await standby.watch();
    expect(server.writes).toEqual([]);
    expect(standby.served).toEqual([]);
    const leader = start(server);
    await leader.lead();
    await standby.watch();
    expect(standby.current!.certificate).toBe(leader.current!.certificate);
    expect(server.writes).toHaveLength(2);
  });

  test('of two that make a certificate at once, the Secret that was stored first counts', async () => {
    const server = new Server();
    const [one, other] = [start(server), start(server)];
    one.certificates.lead();
    other.certificates.lead();
    await Promise.all([one.rest(), other.rest()]);
    await one.watch();
    await other.watch();
    expect(server.writes.filter((write) => write === 'POST Secret')).toHaveLength(1);
    expect(one.current!.certificate).toBe(textOf(server.secret!, 'tls.crt'));
    expect(other.current!.certificate).toBe(one.current!.certificate);
    expect(server.bundle).toContain(one.current!.authorities[0]);
    expect([...one.log.at('error'), ...other.log.at('error')]).toEqual([]);
  });

  test('it is renewed before its end; the former one is served until the API server trusts the new one', async () => {
    const { server, clock, leader, first } = await established();
    clock.set(59 * DAY);
    await leader.watch();
    expect(server.writes).toHaveLength(2);
    clock.set(2 * DAY);
    await leader.watch();
    expect(server.writes.slice(2)).toEqual(['PATCH Secret', 'PATCH configuration']);
    const [added, kept] = server.bundle.match(/-----BEGIN[^]*?END CERTIFICATE-----/g)!;
    expect(kept).toBe(first.authorities[0]);
    expect(leader.current).toBe(first);
    await clock.advance(WEBHOOK_CA_PROPAGATION);
    await leader.rest();
    expect(leader.current!.authorities).toEqual([added, kept]);
    expect(leader.current!.notAfter).toBe(clock.now() - WEBHOOK_CA_PROPAGATION + 90 * DAY);
  });

  test('the CA before the last one is not trusted any more', async () => {
    const { server, clock, leader, first } = await established();
    for (let renewal = 0; renewal < 2; renewal++) {
      clock.set(61 * DAY);
      await leader.watch();
      await clock.advance(WEBHOOK_CA_PROPAGATION);
      await leader.rest();
    }
    expect(leader.served).toHaveLength(3);
    expect(server.bundle).not.toContain(first.authorities[0]);
  });

  test('a standby replica serves the former one until the leader has told the new CA', async () => {
    const { server, clock, leader, first } = await established();
    const standby = start(server, clock);
    await standby.watch();
    const known = server.configuration;
    clock.set(61 * DAY);
    await leader.watch();
    const told = server.configuration;
    server.configuration = known;
    await standby.watch();
    await clock.advance(2 * WEBHOOK_CA_PROPAGATION);
    expect(standby.current!.certificate).toBe(first.certificate);
    server.configuration = told;
    await standby.watch();
    await clock.advance(WEBHOOK_CA_PROPAGATION);
    await standby.rest();
    expect(standby.current!.certificate).toBe(textOf(server.secret!, 'tls.crt'));
  });

  test.each<[string, (server: Server) => Promise<TlsSecret | undefined> | TlsSecret | undefined]>([
    ['was deleted', () => undefined],
    ['lost its key', ({ secret }) => ({ ...secret!, data: { ...secret!.data, 'tls.key': '' } })],
    ['has garbage', ({ secret }) => ({ ...secret!, data: { 'tls.crt': 'Z2FyYmFnZQ==' } })],
    [
      'has a damaged chain, which OpenSSL refuses to serve',
      async () => {
        const issued = await issueCertificate(HOST, Date.UTC(2026, 0, 1));
        return tlsSecret({ ...issued, certificate: `${issued.certificate}\n${DAMAGED}` });
      },
    ],
    ['has an expired certificate', async () => tlsSecret(await issueCertificate(HOST, Date.UTC(2025, 0, 1)))],
    [
      'has a certificate for another host',
      async () => tlsSecret(await issueCertificate('other.svc', Date.UTC(2026, 0, 1))),
    ],
  ])('a Secret that %s is replaced', async (_, damage) => {
    const { server, clock, leader, first } = await established();
    server.put(await damage(server));
    await leader.watch();
    const healed = checkCertificate(server.secret, { host: HOST, now: clock.now() });
    if (healed.type === 'invalid') throw new Error(healed.problem);
    expect(server.bundle).toContain(healed.serving.authorities[0]);
    // Replicas that still serve it are trusted.
    expect(server.bundle).toContain(first.authorities[0]);
    await clock.advance(WEBHOOK_CA_PROPAGATION);
    await leader.rest();
    expect(leader.current!.certificate).toBe(healed.serving.certificate);
    expect(leader.log.at('error')).toEqual([]);
  });

  test('a valid certificate that a person stores is served, and its CA is told', async () => {
    const { server, clock, leader } = await established();
    const brought = await issueCertificate(HOST, clock.now());
    server.put(tlsSecret(brought));
    await leader.watch();
    // At once: the API server does not trust the former one any more.
    expect(leader.current!.certificate).toBe(brought.certificate);
    expect(server.bundle).toBe(`${brought.ca}\n`);
  });

  test('a CA that was removed from the webhook configuration is told again', async () => {
    const { server, leader, first } = await established();
    server.configuration = {
      metadata: { name: 'hub-operator', resourceVersion: '100' },
      webhooks: [{ name: 'w.example.org', clientConfig: {} }],
    };
    await leader.watch();
    expect(server.bundle).toBe(`${first.authorities[0]}\n`);
    expect(leader.served).toHaveLength(1);
  });

  test('against a program that removes the CA each time, it is written a few times at once and then ever more rarely', async () => {
    const { server, clock, leader, first } = await established();
    const written = () => server.writes.filter((write) => write === 'PATCH configuration').length;
    const fight = async () => {
      const { metadata } = server.configuration!;
      server.configuration = { metadata, webhooks: [{ name: 'w.example.org', clientConfig: {} }] };
      await leader.watch();
    };
    for (let round = 0; round < 20; round++) await fight();
    expect(written()).toBe(WEBHOOK_WRITES_AT_ONCE);
    const contested = 'another program changes certificate or CA of webhook, pausing';
    expect(leader.log.at('warn')).toEqual([contested]);
    const [shortest] = WEBHOOK_WRITE_PAUSE;
    await clock.advance(shortest);
    await leader.rest();
    expect(written()).toBe(WEBHOOK_WRITES_AT_ONCE + 1);
    const HOURS = 6;
    for (let minute = 0; minute < HOURS * 60; minute++) {
      await fight();
      await clock.advance(60_000);
      await leader.rest();
    }
    expect(written()).toBeLessThan(HOURS * 6 + 20);
    expect(written()).toBeGreaterThan(HOURS * 4);
    // The other one has stopped: the CA is there after the pause, and a single change is healed at once again.
    await clock.advance(WEBHOOK_WRITE_CALM);
    await leader.rest();
    expect(server.bundle).toBe(`${first.authorities[0]}\n`);
    await clock.advance(WEBHOOK_WRITE_CALM);
    const before = written();
    await fight();
    expect(written()).toBe(before + 1);
  });

  test('against a program that damages the Secret each time, no certificate is made without a pause', async () => {
    const { server, clock, leader } = await established();
    for (let round = 0; round < 10; round++) {
      server.put({ ...server.secret!, data: {} });
      await leader.watch();
    }
    expect(server.writes.filter((write) => write.endsWith('Secret'))).toHaveLength(WEBHOOK_WRITES_AT_ONCE);
    await clock.advance(WEBHOOK_WRITE_PAUSE[0]);
    await leader.rest();
    expect(checkCertificate(server.secret, { host: HOST, now: clock.now() })).toMatchObject({
      type: 'valid',
    });
  });

  test('without a webhook configuration the certificate is made, and the CA told when there is one', async () => {
    const server = new Server();
    const { configuration } = server;
    server.configuration = undefined;
    const leader = start(server);
    await leader.lead();
    expect(server.writes).toEqual(['POST Secret']);
    expect(leader.served).toHaveLength(1);
    server.configuration = configuration;
    await leader.watch();
    expect(server.bundle).toContain(leader.current!.authorities[0]);
  });

  /** The leader's first write has failed, and the next ones fail, too. */
  async function withFailedWrite() {
    const server = new Server();
    server.failing = true;
    const clock = new ManualClock();
    const leader = start(server, clock);
    await leader.lead();
    return { server, clock, leader };
  }

  test('a failed write is repeated', async () => {
    const { server, clock, leader } = await withFailedWrite();
    expect(leader.served).toEqual([]);
    expect(leader.log.at('warn')).toEqual(['failed to renew certificate of webhook, retrying']);
    server.failing = false;
    await clock.advance(WEBHOOK_CERTIFICATE_RETRY[0]);
    await leader.rest();
    expect(leader.served).toHaveLength(1);
  });

  test('for a write that fails again and again, one certificate is made', async () => {
    const { server, clock, leader } = await withFailedWrite();
    for (let tries = 1; tries < 5; tries++) await leader.watch();
    expect(leader.log.at('warn')).toHaveLength(5);
    expect(leader.issues).toBe(1);
    server.failing = false;
    await leader.watch();
    expect(leader.served).toHaveLength(1);
    expect(leader.issues).toBe(1);
    clock.set(61 * DAY);
    await leader.watch();
    expect(leader.issues).toBe(2);
  });

  test('a certificate that could not be written is not kept when another one was stored', async () => {
    const { server, clock, leader } = await withFailedWrite();
    server.failing = false;
    server.put(tlsSecret(await issueCertificate(HOST, clock.now())));
    await leader.watch();
    clock.set(61 * DAY);
    await leader.watch();
    // The one from 61 days ago would be due at once.
    expect(server.writes.filter((write) => write.endsWith('Secret'))).toEqual(['PATCH Secret']);
  });

  test('a certificate that cannot be made is tried ever more rarely, until it succeeds', async () => {
    const [shortest, longest] = WEBHOOK_CERTIFICATE_RETRY;
    const clock = new ManualClock();
    const leader = start(new Server(), clock);
    leader.issue = () => Promise.reject(new ApiServerUnreachable('no memory'));
    await leader.lead();
    const HOURS = 6;
    await clock.advance(HOURS * 3_600_000);
    await leader.rest();
    // Each pause is at least half of its full length, and at most all of it.
    expect(leader.issues).toBeLessThan((HOURS * 3_600_000) / (longest / 2) + 10);
    expect(leader.issues).toBeGreaterThanOrEqual((HOURS * 3_600_000) / longest);
    leader.issue = issueCertificate;
    await leader.watch();
    expect(leader.served).toHaveLength(1);
    // The next failure is the first one again.
    leader.issue = () => Promise.reject(new ApiServerUnreachable('no memory'));
    clock.set(61 * DAY);
    await leader.watch();
    const before = leader.issues;
    await clock.advance(shortest);
    await leader.rest();
    expect(leader.issues).toBe(before + 1);
  });

  test('it stops without waiting for a certificate that is being made', async () => {
    const leader = start(new Server());
    leader.issue = (_host, _now, signal) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    leader.certificates.lead();
    await settle();
    expect(leader.issues).toBe(1);
    await leader.certificates.stop();
    expect(leader.log.lines).toEqual([]);
  });

  test('a certificate that a person stores while another one is made is not overwritten', async () => {
    const server = new Server();
    const clock = new ManualClock();
    const brought = await issueCertificate(HOST, clock.now());
    const leader = start(server, clock);
    leader.certificates.lead();
    // Keys are being made: threads of OpenSSL answer in a later turn of the event loop.
    server.put(tlsSecret(brought));
    await leader.watch();
    await clock.advance(WEBHOOK_CERTIFICATE_RETRY[0]);
    await leader.rest();
    expect(server.writes).toEqual(['PATCH configuration']);
    expect(leader.current!.certificate).toBe(brought.certificate);
    expect(leader.log.at('warn')).toEqual([]);
  });

  test.each(['a.svc:443', 'https://a.svc', '[::1]', 'ä.svc', '::ffff:10.0.0.1'])(
    'for %s, which no certificate can be for, nothing is written',
    async (host) => {
      const server = new Server();
      const clock = new ManualClock();
      const leader = start(server, clock, host);
      await leader.lead();
      expect(server.writes).toEqual([]);
      const failure = 'failed to renew certificate of webhook, retrying';
      expect(leader.log.at('warn')).toEqual([failure]);
      const { error } = leader.log.lines.at(-1)!.fields as { error: Error };
      expect(error.message).toContain(`cannot make a certificate for ${host}: `);
      const [pause] = WEBHOOK_CERTIFICATE_RETRY;
      await clock.advance(pause / 2 - 1);
      await leader.rest();
      expect(leader.log.at('warn')).toHaveLength(1);
      await clock.advance(pause / 2 + 1);
      await leader.rest();
      expect(leader.log.at('warn')).toEqual([failure, failure]);
      expect(server.writes).toEqual([]);
    },
  );

  test('a certificate of another program is served, never written', async () => {
    const server = new Server();
    const clock = new ManualClock();
    const provided = new Replica(server, clock, undefined);
    replicas.push(provided);
    expect(provided.served).toEqual([]);
    server.put(tlsSecret(await issueCertificate('any.svc', clock.now())));
    await provided.watch();
    await provided.lead();
    expect(provided.served).toHaveLength(1);
    clock.set(91 * DAY);
    await provided.watch();
    await provided.watch();
    expect(server.writes).toEqual([]);
    expect(provided.log.at('warn')).toEqual(['certificate of webhook cannot be used']);
  });
});
