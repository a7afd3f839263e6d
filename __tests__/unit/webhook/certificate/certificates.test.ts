import { WEBHOOK_WRITE_INTERVAL } from '../../../../operator/base/limits';
import type { ApiRequest } from '../../../../operator/runtime/api-client';
import { ApiServerUnreachable } from '../../../../operator/runtime/api-errors';
import { Certificates } from '../../../../operator/webhook/certificate/certificates';
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

/** The Secret and the webhook configuration in the API server, with their optimistic locks. */
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

  /** Writes the Secret as another client. */
  put(secret: TlsSecret | undefined): void {
    this.secret = secret && {
      ...secret,
      metadata: { ...secret.metadata, resourceVersion: String(++this.version) },
    };
  }
}

/** One replica with its own view of the server, which the test updates. */
class Replica {
  readonly served: ServingCertificate[] = [];
  readonly log = new RecordingLog();
  readonly certificates: Certificates;
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
      host: () => host,
      secret: () => this.seen.secret,
      configuration: () => this.seen.configuration,
      recordWrite: (object) => {
        if (object.kind === 'Secret') this.seen.secret = object;
        else this.seen.configuration = object;
      },
      serve: (serving) => void this.served.push(serving),
    });
  }

  /** Delivers the current state by the watches. */
  async watch(): Promise<void> {
    this.seen = { secret: this.server.secret, configuration: this.server.configuration };
    this.certificates.handleChange();
    await this.rest();
  }

  async lead(): Promise<void> {
    this.certificates.lead();
    await this.rest();
  }

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

/** Makes a leader that serves. */
async function established() {
  const server = new Server();
  const clock = new ManualClock();
  const leader = start(server, clock);
  await leader.lead();
  return { server, clock, leader, first: leader.current! };
}

describe('Certificates', () => {
  test('the leader makes a certificate, registers its CA in the API server, and serves it', async () => {
    const { server, leader, first } = await established();
    expect(server.writes).toEqual(['POST Secret', 'PATCH configuration']);
    expect(server.bundle).toBe(first.ca);
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

  test('of two that make a certificate at the same time, the Secret that was stored first is used', async () => {
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
    expect(server.bundle).toBe(one.current!.ca);
    expect([...one.log.at('error'), ...other.log.at('error')]).toEqual([]);
  });

  test('it is renewed before its end, and the API server then trusts only the new one', async () => {
    const { server, clock, leader, first } = await established();
    await clock.advance(WEBHOOK_WRITE_INTERVAL);
    clock.set(59 * DAY);
    await leader.watch();
    expect(server.writes).toHaveLength(2);
    clock.set(2 * DAY);
    await leader.watch();
    expect(server.writes.slice(2)).toEqual(['PATCH Secret', 'PATCH configuration']);
    expect(leader.current!.notAfter).toBe(clock.now() + 90 * DAY);
    expect(leader.current!.certificate).not.toBe(first.certificate);
    expect(server.bundle).toBe(leader.current!.ca);
  });

  test.each<[string, (server: Server) => Promise<TlsSecret | undefined> | TlsSecret | undefined]>([
    ['was deleted', () => undefined],
    ['lost its key', ({ secret }) => ({ ...secret!, data: { ...secret!.data, 'tls.key': '' } })],
    ['has garbage', ({ secret }) => ({ ...secret!, data: { 'tls.crt': 'Z2FyYmFnZQ==' } })],
    [
      'has a damaged chain, which OpenSSL refuses to serve',
      async () => {
        const issued = issueCertificate(HOST, Date.UTC(2026, 0, 1));
        return tlsSecret({ ...issued, certificate: `${issued.certificate}\n${DAMAGED}` });
      },
    ],
    ['has an expired certificate', async () => tlsSecret(issueCertificate(HOST, Date.UTC(2025, 0, 1)))],
    [
      'has a certificate for another host',
      async () => tlsSecret(issueCertificate('other.svc', Date.UTC(2026, 0, 1))),
    ],
  ])('a Secret that %s is replaced', async (_, damage) => {
    const { server, clock, leader } = await established();
    await clock.advance(WEBHOOK_WRITE_INTERVAL);
    server.put(await damage(server));
    await leader.watch();
    const healed = checkCertificate(server.secret, { host: HOST, now: clock.now() });
    if (healed.type === 'invalid') throw new Error(healed.problem);
    expect(server.bundle).toBe(healed.serving.ca);
    expect(leader.current!.certificate).toBe(healed.serving.certificate);
    expect(leader.log.at('error')).toEqual([]);
  });

  test('a valid certificate that a user stores is served, and its CA is registered', async () => {
    const { server, clock, leader } = await established();
    const brought = issueCertificate(HOST, clock.now());
    await clock.advance(WEBHOOK_WRITE_INTERVAL);
    server.put(tlsSecret(brought));
    await leader.watch();
    expect(leader.current!.certificate).toBe(brought.certificate);
    expect(server.bundle).toBe(brought.ca);
  });

  /** Removes the CA as another program. */
  function removeCa(server: Server): void {
    const { metadata } = server.configuration!;
    server.configuration = { metadata, webhooks: [{ name: 'w.example.org', clientConfig: {} }] };
  }

  test('a CA that was removed from the webhook configuration is registered again', async () => {
    const { server, clock, leader, first } = await established();
    await clock.advance(WEBHOOK_WRITE_INTERVAL);
    removeCa(server);
    await leader.watch();
    expect(server.bundle).toBe(first.ca);
    expect(leader.served).toHaveLength(1);
  });

  test('when another program changes them each time, they are written after a pause', async () => {
    const { server, clock, leader } = await established();
    const before = server.writes.length;
    for (let round = 0; round < 20; round++) {
      removeCa(server);
      server.put({ ...server.secret!, data: {} });
      await leader.watch();
    }
    expect(server.writes).toHaveLength(before);
    await clock.advance(WEBHOOK_WRITE_INTERVAL);
    await leader.rest();
    expect(server.writes.slice(before)).toEqual(['PATCH Secret', 'PATCH configuration']);
    expect(server.bundle).toBe(leader.current!.ca);
  });

  test('without a webhook configuration the certificate is made, and the CA is registered when there is one', async () => {
    const server = new Server();
    const { configuration } = server;
    server.configuration = undefined;
    const leader = start(server);
    await leader.lead();
    expect(server.writes).toEqual(['POST Secret']);
    expect(leader.served).toHaveLength(1);
    server.configuration = configuration;
    await leader.clock.advance(WEBHOOK_WRITE_INTERVAL);
    await leader.watch();
    expect(server.bundle).toBe(leader.current!.ca);
  });

  test('a failed write is repeated', async () => {
    const server = new Server();
    server.failing = true;
    const clock = new ManualClock();
    const leader = start(server, clock);
    await leader.lead();
    expect(leader.served).toEqual([]);
    expect(leader.log.at('warn')).toContain('failed to renew certificate of webhook, retrying');
    server.failing = false;
    await clock.advance(WEBHOOK_WRITE_INTERVAL);
    await leader.rest();
    expect(leader.served).toHaveLength(1);
  });

  test.each(['a.svc:443', 'https://a.svc', '[::1]', 'ä.svc'])(
    'for %s, for which no certificate can be issued, nothing is written',
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
      await clock.advance(WEBHOOK_WRITE_INTERVAL);
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
    server.put(tlsSecret(issueCertificate('any.svc', clock.now())));
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
