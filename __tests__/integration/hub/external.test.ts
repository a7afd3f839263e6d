import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { getBackupConfig } from '../../../operator/client/setup/backup';
import { getConfig } from '../../../operator/client/setup/core';
import { HubClient } from '../../../operator/client/hub-client';
import { systemClock } from '../../../operator/base/clock';
import { TcpProxy } from '../../../sandbox/tcp-proxy';
import { kubectl, freshNamespace, until } from '../../cluster';
import { automation, configuration, Home, HUB_VERSION, secret } from '../../cluster/home';
import { oneOfThree } from '../../cluster/one-of-three';
import { type OnboardedHub, startOnboardedHub } from '../../cluster/onboarded-hub';
import { startTestOperator, type TestOperator } from '../../cluster/operator';
import { silentLog } from '../../cluster/silent-log';
import { certificate, privateKey } from '../../unit/client/certificate';
import { getBanned, OPERATOR_ADDRESS, setLoginThreshold } from './hub-in-sandbox';

let home: Home;
let operator: TestOperator;
let elsewhere: OnboardedHub;
const servers: { close(): unknown }[] = [];

const external = (name: string, url: string, spec: object = {}, more: object = {}) => ({
  apiVersion: 'hub-operator.dev/v1',
  kind: 'Hub',
  metadata: { name },
  spec: { external: { url, tokenSecretRef: { name: `${name}-token` }, ...more }, ...spec },
});

/** Returns the manifest with additional labels or annotations. */
const withMetadata = <T extends { readonly metadata: object }>(manifest: T, more: object): T => ({
  ...manifest,
  metadata: { ...manifest.metadata, ...more },
});

/** Starts a server that is not a hub, and records its requests. */
async function impostor(
  answer: (request: IncomingMessage) => { status: number; headers?: Record<string, string>; body: string },
) {
  const asked: IncomingMessage[] = [];
  const server: Server = createServer((request, response) => {
    asked.push(request);
    const { status, headers, body } = answer(request);
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
  });
  server.on('upgrade', (request, socket) => {
    asked.push(request);
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  servers.push(server);
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

/** Returns a client of the external hub with its owner's token. */
function ownClient(): HubClient {
  const { hub, token } = elsewhere;
  const client = new HubClient({ url: hub.url, token, clock: systemClock, log: silentLog });
  servers.push(client);
  return client;
}
/** Waits until Ready is False with these words. Another fault may be reported first. */
const says = (name: string, reason: string, words: string) =>
  until(`Hub ${name} says ${words}`, async () => {
    const condition = await home.condition('hub', name);
    if (condition?.status === 'False' && condition.reason === reason && condition.message.includes(words))
      return true;
    throw new Error(`${condition?.reason}: ${condition?.message}`);
  });
const conditionBecomes = (type: string, expected: object) =>
  until(`${type} is ${JSON.stringify(expected)}`, async () => {
    expect(await home.condition('hub', 'h', type)).toMatchObject(expected);
    return true;
  });

beforeAll(async () => {
  home = new Home(await freshNamespace('external'));
  [operator, elsewhere] = await Promise.all([
    startTestOperator(home.namespace, { settings: { ALLOW_LOCAL_HUBS: 'true' } }),
    startOnboardedHub(),
  ]);
});
afterAll(async () => {
  for (const server of servers) server.close();
  await elsewhere?.hub.dispose();
});

// All tests use one hub, and run in this order.
describe('a hub that runs elsewhere', () => {
  test('waits for its token, and gets no token of the operator', async () => {
    await home.apply(
      external('h', elsewhere.hub.url, { backup: { recurrence: 'daily', retentionCopies: 2 } }),
    );
    await says('h', 'TokenNotAvailable', 'The Secret h-token does not exist');
    const generated = { labels: { 'app.kubernetes.io/managed-by': 'hub-operator' } };
    await home.apply(withMetadata(secret('h-token', { token: elsewhere.token }), generated));
    await says(
      'h',
      'SecretRefused',
      'The Secret h-token in spec.external.tokenSecretRef is the operator’s own',
    );
    await conditionBecomes('BackupConfigured', { status: 'False', reason: 'TokenNotAvailable' });
  });

  test('is managed: children and backups work, and no workload is made', async () => {
    await home.apply(secret('h-token', { token: elsewhere.token }), automation('h', 'morning'));
    await home.ready('hub', 'h');
    await home.ready('hubautomation', 'morning');
    await until('the status is complete', async () => {
      const { status } = await home.get('hub', 'h');
      expect(status).toMatchObject({ phase: 'Running', version: HUB_VERSION, url: elsewhere.hub.url });
      return true;
    });
    await conditionBecomes('BackupConfigured', { status: 'True' });
    const client = ownClient();
    expect(await getBackupConfig(client.connection)).toMatchObject({
      schedule: { recurrence: 'daily' },
      retention: { copies: 2 },
    });
    // Core settings of an external hub are not changed, although the spec has a default time zone.
    expect((await getConfig(client.rest)).config_source).not.toBe('yaml');
    const made = await home.list('statefulsets,services,persistentvolumeclaims,pods,configmaps');
    expect(made.filter(({ metadata }) => metadata.name !== 'kube-root-ca.crt')).toEqual([]);
  });

  test('a token of a ServiceAccount is not used as the password of the backups either', async () => {
    const account = { annotations: { 'kubernetes.io/service-account.name': 'default' } };
    const vault = withMetadata(secret('vault', { word: 'not to be read' }), account);
    await home.apply({ ...vault, type: 'kubernetes.io/service-account-token' });
    await home.change('hub', 'h', { backup: { passwordSecretRef: { name: 'vault', key: 'word' } } });
    await until('it is refused', async () => {
      const { reason, message } = (await home.condition('hub', 'h', 'BackupConfigured')) ?? {};
      return reason === 'Failed' && message!.includes('vault in spec.backup.passwordSecretRef has the type');
    });
    await home.change('hub', 'h', { backup: { passwordSecretRef: null } });
    await until(
      'it is well',
      async () => (await home.condition('hub', 'h', 'BackupConfigured'))?.status === 'True',
    );
  });

  test('under the annotation dry-run it is left alone, and the status says that nothing was compared', async () => {
    await home.annotate('hub', 'h', 'hub-operator.dev/dry-run=true');
    expect((await home.ready('hub', 'h', { reason: 'DryRun' })).message).toContain('nothing was compared');
    await home.annotate('hub', 'h', 'hub-operator.dev/dry-run-');
    await home.ready('hub', 'h', { reason: 'HubRunning' });
  });

  test('fields that need files in its pod report that', async () => {
    await home.apply(
      configuration('h'),
      {
        apiVersion: 'hub-operator.dev/v1',
        kind: 'HubSecrets',
        metadata: { name: 'h' },
        spec: { hubRef: { name: 'h' }, secretRefs: [{ name: 'h-token' }] },
      },
      {
        apiVersion: 'hub-operator.dev/v1',
        kind: 'HubCommunityRepository',
        metadata: { name: 'h' },
        spec: { hubRef: { name: 'h' }, category: 'theme', repository: 'example/theme', ref: 'v1' },
      },
    );
    for (const kind of ['hubconfiguration', 'hubsecrets', 'hubcommunityrepository']) {
      await home.ready(kind, 'h', { status: 'False', reason: 'NotSupportedByExternalHub' });
      expect(await home.condition(kind, 'h', 'Stalled')).toMatchObject({ status: 'True' });
    }
    await home.change('hub', 'h', { delivery: 'File' });
    await home.ready('hub', 'h', { status: 'False', reason: 'NotSupportedByExternalHub' });
    await home.change('hub', 'h', { delivery: 'Api' });
    await home.ready('hub', 'h');
  });

  test('is not repaired: a token that does not work is reported, and another one is used', async () => {
    await home.apply(secret('h-token', { token: 'nonsense' }));
    await home.ready('hub', 'h', { status: 'False', reason: 'TokenRejected' });
    expect(await home.exists('secret', 'h-admin')).toBe(false);
    expect(await home.exists('secret', 'h-api-token')).toBe(false);
    expect(await home.secret('h-token', 'token')).toBe('nonsense');
    await home.apply(secret('h-token', { token: elsewhere.token }));
    await home.ready('hub', 'h');
  });

  test('is not restarted for a ban', async () => {
    await setLoginThreshold(ownClient(), 2);
    await home.ready('hub', 'h');
    const before = elsewhere.hub.pid;
    await getBanned(OPERATOR_ADDRESS, elsewhere.hub.url);
    await says('h', 'HubBanned', 'does not restart external hubs');
    expect(elsewhere.hub.pid).toBe(before);
    const { status } = await home.get('hub', 'h');
    expect(status!.conditions!.map(({ type }) => type)).not.toContain('BanRecoveryFailed');
  });

  test('is reached over TLS with its own certificate authority, and not without', async () => {
    const front = createTlsServer({ cert: certificate, key: privateKey }, (socket) => {
      const hub = connect({ port: elsewhere.hub.port, host: '127.0.0.1', localAddress: '127.0.0.7' });
      socket.pipe(hub).pipe(socket);
      for (const end of [socket, hub]) end.on('error', () => [socket, hub].forEach((each) => each.destroy()));
    });
    await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve));
    servers.push(front);
    const url = `https://127.0.0.1:${(front.address() as AddressInfo).port}`;
    await home.apply(external('tls', url), secret('tls-token', { token: elsewhere.token }));
    await says('tls', 'HubUnreachable', 'signed by an unknown authority');
    await home.change('hub', 'tls', { external: { caSecretRef: { name: 'authority' } } });
    await home.apply(secret('authority', { 'ca.crt': certificate }));
    // The address differs, but the hub is the same.
    await says('tls', 'DuplicateId', 'The Hub h manages the same hub already');
    await home.delete('hub', 'h');
    await home.ready('hub', 'tls');
    await home.delete('hub', 'tls');
  });

  test('loses the objects of children that are deleted just after their Hub', async () => {
    const { entities } = ownClient();
    // The Hub waits a few seconds for its children to be deleted.
    const left = await oneOfThree(
      async (attempt) => {
        const [name, evening] = [`leaving-${attempt}`, `evening-${attempt}`];
        // A proxy gives the hub a separate address, which the test can switch off.
        const front = await TcpProxy.start(Number(new URL(elsewhere.hub.url).port));
        await home.apply(
          external(name, `http://127.0.0.1:${front.port}`),
          secret(`${name}-token`, { token: elsewhere.token }),
        );
        await home.apply(automation(name, evening));
        await home.ready('hubautomation', evening);
        expect(await entities.read('automation', evening)).toBeDefined();
        await home.delete('hub', name, { wait: false });
        await home.delete('hubautomation', evening);
        await until('the Hub is gone', async () => !(await home.exists('hub', name)));
        await front.stop();
        const events = (await operator.events('HubAutomation', evening)).join();
        return { object: await entities.read('automation', evening), isReported: events.includes('Cleanup') };
      },
      ({ object, isReported }) => object === undefined && !isReported,
    );
    expect(left).toEqual({ object: undefined, isReported: false });
  });
});

describe('the token', () => {
  test('is not sent to a server that is not a hub, and none of its text reaches the status', async () => {
    const odd: Record<string, Parameters<typeof impostor>[0]> = {
      program: () => ({ status: 200, body: '{"name":"TOP SECRET"}' }),
      error: () => ({ status: 400, body: '{"message":"TOP SECRET"}' }),
      page: () => ({ status: 200, headers: { 'content-type': 'text/TOP-SECRET' }, body: '<html>TOP SECRET' }),
      redirect: () => ({ status: 302, headers: { location: '/TOP-SECRET' }, body: '{}' }),
      nonsense: () => ({ status: 200, body: 'TOP SECRET' }),
    };
    const all = await Promise.all(
      Object.entries(odd).map(async ([name, answer]) => ({ name, ...(await impostor(answer)) })),
    );
    await home.apply(
      ...all.flatMap(({ name, url }) => [
        external(name, url),
        secret(`${name}-token`, { token: 'the token itself' }),
      ]),
    );
    for (const { name, asked } of all) {
      await home.ready('hub', name, { status: 'False', reason: 'HubUnreachable' });
      await until(`${name} was asked again`, () => asked.length >= 2);
      expect(asked.map(({ headers }) => headers.authorization)).toEqual(asked.map(() => undefined));
      expect(asked.map(({ url: path }) => path)).toEqual(asked.map(() => '/manifest.json'));
      const told = JSON.stringify([(await home.get('hub', name)).status, await home.events('Hub', name)]);
      expect(told).not.toMatch(/secret/i);
    }
    expect(await operator.log()).not.toMatch(/TOP.SECRET/);
    await Promise.all(all.map(({ name }) => home.delete('hub', name)));
  });

  test('does not follow a redirect, and sends no token to another server at the address of a hub', async () => {
    const trap = await impostor(() => ({ status: 200, body: '{}' }));
    let isHub = true;
    const { url, asked } = await impostor(({ url: path }) =>
      path === '/manifest.json' && isHub
        ? { status: 200, body: '{"name":"Home Assistant"}' }
        : { status: 307, headers: { location: `${trap.url}/api/config` }, body: '{}' },
    );
    await home.apply(external('odd', url), secret('odd-token', { token: 'the token itself' }));
    await home.ready('hub', 'odd', { status: 'False', reason: 'HubUnreachable' });
    const withToken = (since: number) =>
      asked.slice(since).filter(({ headers }) => headers.authorization).length;
    await until('a token was sent', () => withToken(0) > 0);
    expect(trap.asked).toEqual([]);
    isHub = false;
    // An earlier proof is valid for ten seconds. The operator requests a new one when none is left.
    const askedForProof = (since: number) =>
      asked.slice(since).filter(({ url: path }) => path === '/manifest.json').length;
    const flipped = asked.length;
    await until('another proof was asked for, twice', () => askedForProof(flipped) > 1);
    const refused = asked.length;
    await until('it was asked for once more', () => askedForProof(refused) > 0);
    expect(withToken(refused)).toBe(0);
    expect(trap.asked).toEqual([]);
    await home.delete('hub', 'odd');
  });
});

describe('the address', () => {
  test.each([
    ['ftp://192.0.2.1', 'url'],
    ['http://user:pass@192.0.2.1', 'url'],
    ['http://192.0.2.1/path', 'url'],
  ])('%s is refused at admission', async (url) => {
    const { code, stderr } = await kubectl(['apply', '--filename=-'], {
      namespace: home.namespace,
      input: JSON.stringify(external('bad', url)),
    });
    expect(code).not.toBe(0);
    expect(stderr).toMatch(/external\.url/);
  });

  test('of this machine or a link-local one is refused, by number and by name, unless a setting allows it', async () => {
    await operator.stop();
    await startTestOperator(home.namespace);
    const { url, asked } = await impostor(() => ({ status: 200, body: '{"name":"Home Assistant"}' }));
    const port = new URL(url).port;
    const literal = [
      `http://127.0.0.1:${port}`,
      `http://2130706433:${port}`,
      `http://[::1]:${port}`,
      'http://169.254.169.254',
      'http://[fe80::1]',
    ];
    await home.apply(
      ...[...literal, `http://localhost:${port}`].flatMap((address, index) => [
        external(`local-${index}`, address),
        secret(`local-${index}-token`, { token: 'x' }),
      ]),
    );
    for (const index of literal.keys()) await says(`local-${index}`, 'InvalidSpec', 'loopback or link-local');
    await says(`local-${literal.length}`, 'HubUnreachable', 'loopback or link-local');
    expect(asked).toEqual([]);
  });
});
