import type { Hub } from '../../../../../operator/kinds';
import type { Outcome } from '../../../../../operator/runtime/outcome';
import type { HubClients } from '../../../../../operator/sync/hub-connection/hub-clients';
import { externalStep, invalidUrl } from '../../../../../operator/sync/hub/access/external';
import { aHub, aHubContext, secretReader, services } from '../../fixtures';
import { TokenRejected } from '../../../../../operator/client/connection/errors';

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
  const hubAt = (
    createdAt: string,
    fields: {
      uid: string;
      namespace?: string;
      url?: string;
      volumeID?: string;
      usedUrl?: string;
      deletionTimestamp?: string;
    },
  ) => {
    const { uid, namespace = 'home', url = external.url, volumeID, usedUrl, deletionTimestamp } = fields;
    const metadata = { uid, namespace, name: `hub-${uid}`, creationTimestamp: createdAt };
    return aHub({
      metadata: { ...metadata, ...(deletionTimestamp && { deletionTimestamp }) },
      spec: { external: { ...external, url } },
      ...(volumeID && { status: { volumeID, ...(usedUrl && { url: usedUrl }) } }),
    });
  };
  const younger = hubAt('2026-01-02T00:00:00Z', { uid: 'b' });
  /** The owner of the hub that answers the Hub under test. */
  let owner: string | undefined;
  let accepted: boolean;
  beforeEach(() => {
    owner = 'anna';
    accepted = true;
  });

  function stepAmong(...all: Hub[]) {
    const cache = {
      get: (kind: string, _: string, name: string) =>
        (kind === 'Secret'
          ? { metadata: { name } }
          : all.find(({ metadata }) => metadata.name === name)) as never,
      *list() {
        yield* all as never[];
      },
    };
    const commands: Record<string, unknown> = {
      'auth/current_user': { id: 'anna', name: 'anna', is_admin: true },
      get_config: {},
    };
    const client = {
      rest: {
        address: {},
        get: () =>
          accepted
            ? Promise.resolve({ version: '2026.11.0', state: 'RUNNING' })
            : Promise.reject(new TokenRejected('the token is rejected')),
      },
      connection: {
        command: (type: string) =>
          Promise.resolve(
            type === 'config/auth/list' ? [{ id: owner, is_owner: owner !== undefined }] : commands[type],
          ),
      },
    };
    const hubs = { client: () => client, healthMonitor: { watch: () => undefined } };
    const secrets = secretReader(() => new Map([['token', 'the token']]));
    const step = externalStep(services({ cache, secrets }), hubs as unknown as HubClients);
    return async (hub: Hub) => {
      const context = aHubContext(hub);
      const result = (await step.run(context)) as Outcome & { url?: string };
      return { ...result, volumeID: { ...context.status, ...result.status }['volumeID'] };
    };
  }
  const reconcile = (hub: Hub, ...others: Hub[]) => stepAmong(hub, ...others)(hub);
  const connected = { url: 'http://box:8123', volumeID: 'anna' };

  test('records the account of the owner as the volume, and requests it once', async () => {
    const hubs = [younger];
    const run = stepAmong(...hubs);
    expect(await run(younger)).toMatchObject(connected);
    owner = 'another';
    expect(await run(younger)).toMatchObject(connected);
  });

  test('assigns a hub to the oldest Hub that it has accepted, at any address', async () => {
    const older = hubAt('2026-01-01T00:00:00Z', { uid: 'c', url: 'http://192.168.1.5', volumeID: 'anna' });
    expect(await reconcile(younger, older)).toMatchObject({
      type: 'Stalled',
      reason: 'DuplicateId',
      after: 30_000,
      status: { phase: 'Failed', url: null },
      message: expect.stringContaining('The Hub hub-c manages the same hub already') as string,
    });
    expect(await reconcile(older, younger)).toMatchObject({ ...connected, url: 'http://192.168.1.5' });
  });

  test('reveals nothing about a Hub in another namespace', async () => {
    const older = hubAt('2026-01-01T00:00:00Z', { uid: 'c', namespace: 'office', volumeID: 'anna' });
    const { message } = await reconcile(younger, older);
    expect(message).toContain('A Hub of another namespace manages the same hub already');
    expect(message).not.toMatch(/office|hub-c/);
  });

  test('leaves a hub to the Hub that the hub accepts, not to an older one that only has its address', async () => {
    const squatter = hubAt('2026-01-01T00:00:00Z', { uid: 'c', namespace: 'office' });
    expect(await reconcile(younger, squatter)).toMatchObject(connected);
    const elsewhere = hubAt('2026-01-01T00:00:00Z', { uid: 'c', volumeID: 'berta' });
    expect(await reconcile(younger, elsewhere)).toMatchObject(connected);
  });

  test('leaves a hub to the Hub that uses it, when the host of an older Hub begins to report the same owner', async () => {
    const using = hubAt('2026-01-02T00:00:00Z', { uid: 'b', volumeID: 'anna', usedUrl: 'http://box:8123' });
    const fields = { uid: 'c', namespace: 'office', url: 'http://fake:8123', usedUrl: 'http://fake:8123' };
    const fake = hubAt('2026-01-01T00:00:00Z', { ...fields, volumeID: 'berta' });
    const step = stepAmong(using, fake);
    expect(await step(fake)).toMatchObject({ reason: 'DuplicateId' });
    expect(await step(using)).toMatchObject(connected);
    const refused = hubAt('2026-01-01T00:00:00Z', { uid: 'c', namespace: 'office', volumeID: 'anna' });
    expect(await reconcile(using, refused)).toMatchObject(connected);
  });

  test('assigns a hub to the older of two Hubs that use it', async () => {
    const use = { volumeID: 'anna', usedUrl: 'http://box:8123' };
    const older = hubAt('2026-01-01T00:00:00Z', { uid: 'c', ...use });
    const second = hubAt('2026-01-02T00:00:00Z', { uid: 'b', ...use });
    expect(await reconcile(second, older)).toMatchObject({ reason: 'DuplicateId' });
    expect(await reconcile(older, second)).toMatchObject(connected);
  });

  test('assigns it to the smaller uid of two Hubs that were created in the same second', async () => {
    const twin = hubAt('2026-01-02T00:00:00Z', { uid: 'a', volumeID: 'anna' });
    expect(await reconcile(younger, twin)).toMatchObject({ reason: 'DuplicateId' });
    expect(await reconcile(twin, younger)).toMatchObject(connected);
  });

  test('finds the conflict even before the status of the other Hub shows the owner', async () => {
    const older = hubAt('2026-01-01T00:00:00Z', { uid: 'c' });
    const step = stepAmong(younger, older);
    expect(await step(older)).toMatchObject(connected);
    expect(await step(younger)).toMatchObject({ reason: 'DuplicateId' });
  });

  test('releases a hub that rejects the token', async () => {
    const older = hubAt('2026-01-01T00:00:00Z', { uid: 'c', volumeID: 'anna' });
    accepted = false;
    expect(await reconcile(older, younger)).toMatchObject({ reason: 'TokenRejected', volumeID: null });
  });

  test('leaves it to an older Hub that is being deleted, whose children are still removing their objects', async () => {
    const leaving = hubAt('2026-01-01T00:00:00Z', {
      uid: 'd',
      volumeID: 'anna',
      deletionTimestamp: '2026-01-03T00:00:00Z',
    });
    expect(await reconcile(younger, leaving)).toMatchObject({ reason: 'DuplicateId' });
  });

  test('treats no hub without an owner as another one', async () => {
    owner = undefined;
    const older = hubAt('2026-01-01T00:00:00Z', { uid: 'c' });
    expect(await reconcile(younger, older)).toMatchObject({ url: 'http://box:8123', volumeID: null });
  });
});
