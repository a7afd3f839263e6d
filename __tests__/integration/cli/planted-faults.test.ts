import { writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { API_GROUP } from '../../../operator/kinds/group';
import { WEBHOOK } from '../../../operator/kinds/object-names';
import { systemClock } from '../../../operator/base/clock';
import { HubClient } from '../../../operator/client/hub-client';
import { login } from '../../../operator/client/setup/onboarding';
import { markEntity } from '../../../operator/sync/config-entities/ownership-label';
import type { Finding } from '../../../cli/doctor/finding';
import { until } from '../../cluster';
import { kubectlHub } from '../../cluster/command-line';
import { hub, label, secret } from '../../cluster/home';
import { changeHttpSettings } from '../../cluster/http-settings';
import { HubProcess } from '../../cluster/hub-process';
import { onboardedVolume } from '../../cluster/onboarded-volume';
import { silentLog } from '../../cluster/silent-log';
import { OwnCluster } from '../deploy/own-cluster';
import { getBanned } from '../hub/hub-in-sandbox';
import '../../cluster/hub-commands';

// A separate API server, since these tests break the installation. The operator has no pod, so that it
// repairs nothing.

let cluster: OwnCluster;

beforeAll(async () => {
  cluster = await OwnCluster.start();
  await cluster.must([
    'apply',
    '--server-side',
    `--filename=${join(__dirname, '../../../dist/install.yaml')}`,
  ]);
  await cluster.must(['wait', '--for=condition=Established', 'crd', '--all']);
});
afterAll(() => cluster.stop());

const apply = (...items: readonly object[]) =>
  cluster.must(
    ['apply', '--server-side', '--force-conflicts', '--filename=-'],
    JSON.stringify({ apiVersion: 'v1', kind: 'List', items }),
  );

/** Returns all faults except those of resources that no operator has reconciled. */
async function faults(...args: readonly string[]): Promise<readonly string[]> {
  const access = args.some((arg) => arg.startsWith('--kubeconfig'))
    ? []
    : [`--kubeconfig=${cluster.sandbox.kubeconfig}`];
  const { stdout, stderr } = await kubectlHub('default', ['doctor', ...access, '-o', 'json', ...args]);
  expect(stderr).toBe('');
  return (JSON.parse(stdout) as readonly Finding[])
    .filter(({ verdict, check }) => verdict === 'fault' && check !== 'reconciliation')
    .map(({ subject, check, message }) => `${subject}: ${check}: ${message}`);
}

/** Matchers for faults, in the order of {@link sorted}. */
const containing = (parts: readonly string[]) =>
  sorted(parts).map((part) => expect.stringContaining(part) as string);
const sorted = (texts: readonly string[]) => [...texts].sort();
const ofHub = (found: readonly string[]) => found.filter((each) => each.startsWith('Hub '));

describe('kubectl hub doctor', () => {
  test('names the planted faults of an installation and its resources', async () => {
    const page = createServer((_, response) => response.end('<h1>A printer</h1>'));
    const printer = await listening(page);
    await apply(
      hub('gold', { storage: { storageClassName: 'gold' } }),
      hub('plain'),
      hub('claimed', { storage: { existingClaim: 'none' } }),
      secret('token', { token: 'x' }),
      ...[
        ['nowhere', 'http://127.0.0.1:1'],
        ['printer', printer],
      ].map(([name, url]) =>
        hub(name!, { version: null, external: { url, tokenSecretRef: { name: 'token' } } }),
      ),
      label('castle', 'lost', { name: 'Lost' }),
    );
    await cluster.must(['delete', 'crd', `hubzones.${API_GROUP}`]);
    await cluster.must([
      'label',
      'crd',
      `hubs.${API_GROUP}`,
      'app.kubernetes.io/version=0.0.9',
      '--overwrite',
    ]);
    await cluster.must(['delete', 'clusterrolebindings', '--selector=app.kubernetes.io/name=hub-operator']);
    await untilMay('no', 'system:serviceaccount:hub-operator:hub-operator', 'get', `hubs.${API_GROUP}`);
    const found = await faults();
    page.close();
    expect(sorted(found)).toEqual(
      containing([
        'cluster: operator: No pod of the Deployment hub-operator/hub-operator is ready.',
        'cluster: rights of the operator: system:serviceaccount:hub-operator:hub-operator may not do anything that is needed: no role is bound.',
        'cluster: webhook: Its registration has no certificate authority',
        `CRD hubzones.${API_GROUP}: definitions: The cluster does not have it.`,
        `CRD hubs.${API_GROUP}: definitions: It is of version 0.0.9`,
        'Hub gold: storage class: The storage class gold does not exist',
        'Hub gold: token: the Secret gold-api-token',
        'Hub plain: storage class: The cluster has no default storage class',
        'Hub plain: token: the Secret plain-api-token',
        'Hub claimed: storage class: The claim none of spec.storage.existingClaim does not exist.',
        'Hub claimed: token: the Secret claimed-api-token',
        'Hub nowhere: hub reachable: ',
        'Hub printer: hub reachable: ',
        'HubLabel lost: orphans: It belongs to the Hub castle, which does not exist.',
      ]),
    );

    const webhooks = [{ op: 'add', path: '/webhooks/0/clientConfig/caBundle', value: 'Q0E=' }];
    const registration = ['validatingwebhookconfiguration', WEBHOOK.configuration];
    await cluster.must(['patch', ...registration, '--type=json', `--patch=${JSON.stringify(webhooks)}`]);
    expect(await faults('plain')).toContainEqual(
      expect.stringContaining(
        'cluster: webhook: The Service hub-operator/hub-operator-webhook has no ready pod',
      ),
    );

    await cluster.must(['create', 'serviceaccount', 'guest']);
    await cluster.must([
      'create',
      'rolebinding',
      'guest',
      '--clusterrole=hub-operator-view',
      '--serviceaccount=default:guest',
    ]);
    await untilMay('yes', 'system:serviceaccount:default:guest', 'list', `hubs.${API_GROUP}`);
    expect(await faults(`--kubeconfig=${await kubeconfigOf('guest')}`)).toContainEqual(
      expect.stringMatching(/^cluster: your rights: You may not .*get secrets/),
    );
  });

  test('names the planted faults of a hub', async () => {
    const { directory, token } = await onboardedVolume();
    const attic = await HubProcess.create(directory);
    const client = new HubClient({ url: attic.url, token, clock: systemClock, log: silentLog });
    const file = (name: string, content: string) => writeFile(join(attic.configDir, name), content);
    const startAgain = async () => {
      await attic.stop();
      await attic.start();
      await attic.running(token);
    };
    const faultsOfAttic = async () =>
      ofHub(await faults('attic')).map((each) => each.slice('Hub attic: '.length));
    try {
      const broken = { id: 'broken', alias: 'Broken', triggers: [{ trigger: 'no_such' }], actions: [] };
      await file('automations.yaml', JSON.stringify([broken]));
      await attic.start();
      const external = { url: attic.url, tokenSecretRef: { name: 'attic-token' } };
      await apply(secret('attic-token', { token }), hub('attic', { version: null, external }));
      await changeHttpSettings(client, { ip_ban_enabled: true, login_attempts_threshold: 1 });
      await client.entities.write('script', 'old', { alias: 'Old', sequence: [] });
      const old = await until('the script is registered', () =>
        client.entityRegistry.findNow('script', 'old'),
      );
      await markEntity(client, old, 'managed');
      await fetch(attic.url, { headers: { 'X-Forwarded-For': '192.0.2.7' } });
      await getBanned('127.0.0.9', attic.url);
      expect(sorted(await faultsOfAttic())).toEqual(
        containing([
          'bans: The hub has banned 127.0.0.9',
          'orphans: The operator has created script.old',
          'repairs: The hub asks for a repair: automation: ',
          'trusted proxies: The hub refuses requests that the proxy 127.0.0.1 forwards.',
        ]),
      );

      const { user } = await client.connection.command('config/auth/create', {
        name: 'Guest',
        group_ids: ['system-users'],
      });
      const account = { username: 'guest', password: 'a long password' };
      await client.connection.command('config/auth_provider/homeassistant/create', {
        user_id: user.id,
        ...account,
      });
      const { accessToken } = await login(client.rest, account, systemClock);
      await apply(secret('attic-token', { token: accessToken }));
      expect(await faultsOfAttic()).toEqual([
        expect.stringContaining('token: The token belongs to a user who is no administrator'),
      ]);
      await apply(secret('attic-token', { token: 'wrong' }));
      expect(await faultsOfAttic()).toEqual([expect.stringContaining('token: the hub rejected the token')]);
      // The attempt counted as a failed login from this address.
      await apply(secret('attic-token', { token }));
      expect(await faultsOfAttic()).toEqual([
        expect.stringContaining('bans: the hub has banned the address of the operator'),
      ]);

      await file('ip_bans.yaml', '');
      await file('safe-mode', '');
      await startAgain();
      expect(await faultsOfAttic()).toContainEqual(
        expect.stringContaining('recovery and safe mode: The hub runs in safe mode'),
      );
      await file('configuration.yaml', 'automation: [');
      await startAgain();
      expect(await faultsOfAttic()).toEqual([
        expect.stringContaining('recovery and safe mode: The hub runs in recovery mode'),
      ]);
    } finally {
      client.close();
      await attic.dispose();
    }
  });
});

/** The API server applies a binding, or its removal, some time after it was stored. */
function untilMay(answer: 'yes' | 'no', account: string, verb: string, resource: string): Promise<true> {
  return until(`${account} may ${verb} ${resource}: ${answer}`, async () => {
    const { stdout } = await cluster.kubectl(['auth', 'can-i', verb, resource, `--as=${account}`]);
    return stdout.trim() === answer;
  });
}

/** Starts a server. Returns its address when it listens. */
async function listening(server: Server): Promise<string> {
  await promisify<number, string>(server.listen.bind(server))(0, '127.0.0.1');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Returns a kubeconfig with a token of a service account. */
async function kubeconfigOf(account: string): Promise<string> {
  const text = await cluster.must(['config', 'view', '--raw', '--minify', '--output=json']);
  const config = JSON.parse(text) as { users: object[]; contexts: { context: { user: string } }[] };
  const user = { token: (await cluster.must(['create', 'token', account])).trim() };
  const { user: name } = config.contexts[0]!.context;
  const path = join(cluster.sandbox.directory, `${account}.kubeconfig`);
  await writeFile(path, JSON.stringify({ ...config, users: [{ name, user }] }));
  return path;
}
