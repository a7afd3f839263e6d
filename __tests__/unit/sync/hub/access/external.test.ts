import { HubRejected } from '../../../../../operator/client/errors';
import type { HubClient } from '../../../../../operator/client/hub-client';
import type { Hub } from '../../../../../operator/kinds';
import { HUB_LABEL } from '../../../../../operator/kinds/annotations';
import type { Outcome } from '../../../../../operator/runtime/outcome';
import type { HubClients } from '../../../../../operator/sync/hub-clients';
import { externalStep, invalidUrl } from '../../../../../operator/sync/hub/access/external';
import { aHub, aHubContext, services } from '../../fixtures';

describe('invalidUrl', () => {
  test.each(['http://192.168.1.10:8123', 'https://hub.home.arpa', 'http://hub/', 'http://[fd00::10]:8123'])(
    'accepts %s',
    (url) => {
      expect(invalidUrl({ url }, false)).toBeUndefined();
    },
  );

  test.each([
    ['ftp://192.168.1.10', 'must be http or https'],
    ['file:///etc/passwd', 'must be http or https'],
    ['hub:8123', 'must be http or https'],
    ['nonsense', 'is invalid: no valid host'],
    ['http://box:99999', 'a port that is not 1–65535'],
    ['http://user:pass@192.168.1.10', 'credentials'],
    ['http://user@192.168.1.10', 'credentials'],
    ['http://@192.168.1.10', 'credentials'],
    ['http://192.168.1.10/api', 'only scheme, host and port'],
    ['http://192.168.1.10?x', 'only scheme, host and port'],
    ['http://192.168.1.10#x', 'only scheme, host and port'],
    ['http://127.0.0.1:8123', 'loopback or link-local'],
    ['http://2130706433', 'loopback or link-local'],
    ['http://0x7f.1', 'loopback or link-local'],
    ['http://[::1]', 'loopback or link-local'],
    ['http://[::ffff:127.0.0.1]', 'loopback or link-local'],
    ['http://169.254.169.254', 'loopback or link-local'],
    ['http://[fe80::1]', 'loopback or link-local'],
    ['http://0.0.0.0', 'loopback or link-local'],
  ])('rejects %s', (url, words) => expect(invalidUrl({ url }, false)).toContain(words));

  test('accepts a local address where a setting allows it, and nothing else in addition', () => {
    expect(invalidUrl({ url: 'http://127.0.0.1:8123' }, true)).toBeUndefined();
    expect(invalidUrl({ url: 'http://u:p@127.0.0.1:8123' }, true)).toContain('credentials');
  });
});

describe('externalStep', () => {
  const external = { url: 'http://box:8123/', tokenSecretRef: { name: 'token', key: 'token' } };
  const hubAt = (createdAt: string, fields: { uid: string; namespace?: string; url?: string }) => {
    const { uid, namespace = 'home', url = external.url } = fields;
    const metadata = { uid, namespace, name: `hub-${uid}`, creationTimestamp: createdAt };
    return aHub({ metadata, spec: { external: { ...external, url } } });
  };
  const younger = hubAt('2026-01-02T00:00:00Z', { uid: 'b' });

  async function reconcile(hub: Hub, ...others: Hub[]) {
    const cache = {
      get: () => undefined,
      *list() {
        yield* [hub, ...others] as never[];
      },
    };
    const hubs = { client: () => undefined, healthMonitor: {} };
    const step = externalStep(services({ cache, secrets: {} }), hubs as unknown as HubClients);
    return (await step.run(aHubContext(hub))) as Outcome;
  }

  test('records the account of the owner as the volume, which it asks for once', async () => {
    const commands: string[] = [];
    let accounts: object[] | undefined = [
      { id: 'of-a-guest', is_owner: false },
      { id: 'of-the-owner', is_owner: true },
    ];
    const answer = (type: string) => {
      if (type === 'auth/current_user') return Promise.resolve({ is_admin: true });
      commands.push(type);
      return accounts ? Promise.resolve(accounts) : Promise.reject(new HubRejected('unknown_command', 'no'));
    };
    const aClient = () =>
      ({
        rest: { get: () => Promise.resolve({ version: '2026.11.0', state: 'RUNNING' }) },
        connection: { command: answer },
      }) as unknown as HubClient;
    let client = aClient();
    const given = services({
      cache: {
        get: () => ({ metadata: { name: 'token', labels: { [HUB_LABEL]: younger.metadata.name } } }) as never,
        *list() {},
      },
      secrets: { get: () => Promise.resolve(new Map([['token', 'x']])) },
    });
    const hubs = { client: () => client, healthMonitor: { watch: () => undefined } };
    const step = externalStep(given, hubs as unknown as HubClients);
    const statusOf = async () => {
      const context = aHubContext(younger);
      await step.run(context);
      return context.status;
    };
    for (let time = 0; time < 2; time++)
      expect(await statusOf()).toMatchObject({ phase: 'Running', volumeID: 'of-the-owner' });
    expect(commands).toEqual(['config/auth/list']);
    client = aClient();
    accounts = undefined; // a hub that does not list them
    expect(await statusOf()).toMatchObject({ phase: 'Running', volumeID: undefined });
  });

  test('assigns a hub to the oldest Hub with its address, across namespaces', async () => {
    const older = hubAt('2026-01-01T00:00:00Z', { uid: 'c', namespace: 'office', url: 'http://BOX:8123' });
    expect(await reconcile(younger, older)).toMatchObject({
      type: 'Stalled',
      reason: 'DuplicateId',
      after: 30_000,
      message: expect.stringContaining('The Hub office/hub-c is older'),
    });
    expect(await reconcile(older, younger)).toMatchObject({ reason: 'TokenNotAvailable' });
  });

  test('gives it to the smaller uid of two Hubs that were created in the same second', async () => {
    const twin = hubAt('2026-01-02T00:00:00Z', { uid: 'a' });
    expect(await reconcile(younger, twin)).toMatchObject({ reason: 'DuplicateId' });
    expect(await reconcile(twin, younger)).toMatchObject({ reason: 'TokenNotAvailable' });
  });

  test('gives it to a younger Hub when the older is another hub', async () => {
    const other = hubAt('2026-01-01T00:00:00Z', { uid: 'c', url: 'http://another:8123' });
    expect(await reconcile(younger, other)).toMatchObject({ reason: 'TokenNotAvailable' });
  });

  test('leaves it to an older Hub that is being deleted, whose children are still removing their objects', async () => {
    const leaving = hubAt('2026-01-01T00:00:00Z', { uid: 'd' });
    const deleted = { ...leaving, metadata: { ...leaving.metadata, deletionTimestamp: 'now' } };
    expect(await reconcile(younger, deleted)).toMatchObject({ reason: 'DuplicateId' });
  });
});
