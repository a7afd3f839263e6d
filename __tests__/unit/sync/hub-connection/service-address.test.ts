import dns from 'node:dns';
import { HubUnreachable } from '../../../../operator/client/connection/errors';
import { lookupAs } from '../../../../operator/client/connection/service-address';
import { HubClient } from '../../../../operator/client/hub-client';
import { hub as definition } from '../../../../operator/kinds';
import { selectorOf } from '../../../../operator/kinds/object-names';
import { defaulted } from '../../../../operator/kinds/schema';
import { OwnerSessions } from '../../../../operator/sync/hub/access/owner-sessions';
import { resolveAccess } from '../../../../operator/sync/hub-connection/token';
import { silentLog } from '../../../cluster/silent-log';
import { FakeHub, json } from '../../client/fake-hub';
import { ManualClock } from '../../manual-clock';
import { aHub, secretReader, services } from '../fixtures';

const HUB = '127.0.0.1';
/** The address that a hostile name server returns for the name of the Service. */
const STRANGER = '127.0.0.2';

const SELECTOR = selectorOf(aHub());

let server: FakeHub;
let stranger: FakeHub;
/** The Service of the hub in the cache; undefined when it does not exist. */
let service: object | undefined;
let isOurs: boolean;
/** The address of the pod in the cache; undefined when it has none yet. */
let podIP: string | undefined;
let asked: jest.SpyInstance;
const closing: { close(): void }[] = [];

beforeEach(async () => {
  server = await FakeHub.start('http', 0, HUB);
  stranger = await FakeHub.start('http', server.port, STRANGER);
  for (const hub of [server, stranger]) hub.routes.set('GET /api/config', json(200, { state: 'RUNNING' }));
  service = { clusterIP: HUB, clusterIPs: [HUB], selector: SELECTOR };
  isOurs = true;
  podIP = HUB;
  asked = jest.spyOn(dns, 'lookup').mockImplementation(((_name: string, options: object, done: unknown) => {
    const answer = done as (error: null, address: unknown, family?: number) => void;
    if ('all' in options && options.all) answer(null, [{ address: STRANGER, family: 4 }]);
    else answer(null, STRANGER, 4);
  }) as never);
});

afterEach(async () => {
  asked.mockRestore();
  for (const each of closing.splice(0)) each.close();
  await Promise.all([server.close(), stranger.close()]);
});

const headless = { clusterIP: 'None', clusterIPs: ['None'], selector: SELECTOR };

const url = () => `http://villa.home.svc:${server.port}`;

const given = (settings: object = {}) =>
  services({
    settings: { hubSourceAddress: '', hubUrlAnnotation: '', ...settings },
    applier: { isOurs: () => isOurs },
    cache: {
      get: (kind: string) =>
        (({
          Service: service && { metadata: { name: 'villa' }, spec: service },
          Pod: { metadata: { name: 'villa-0' }, status: { podIP } },
        })[kind] ?? { metadata: { name: 'villa-api-token' } }) as never,
      list: function* () {},
    },
    secrets: secretReader(() => new Map([['token', 'good-token']])),
  });

async function client(settings?: object): Promise<HubClient> {
  const hub = aHub();
  const found = await resolveAccess(given(settings), hub, defaulted(definition.spec, hub.spec), url());
  if ('missing' in found) throw new Error(found.missing);
  const made = new HubClient({ ...found.access, clock: new ManualClock(), log: silentLog });
  closing.push(made);
  return made;
}

const login = () =>
  new OwnerSessions(given()).withRest({ hub: aHub(), url: url() }, undefined, (rest) =>
    rest.post('/auth/login_flow', {}).catch((error: unknown) => error),
  );

describe('a hub of the operator', () => {
  test('is reached at the address of its Service, under its name, and no name server is asked', async () => {
    const { rest, connection } = await client();
    await rest.get('/api/config');
    await connection.command('get_config');
    await login();
    expect(server.asked('/api/config')).toMatchObject([
      { headers: { authorization: 'Bearer good-token', host: `villa.home.svc:${server.port}` } },
    ]);
    expect(server.connects).toBe(1);
    expect(server.asked('/auth/login_flow')).toHaveLength(1);
    expect(stranger).toMatchObject({ requests: [], connects: 0 });
    expect(asked).not.toHaveBeenCalled();
  });

  test.each<[string, () => void]>([
    ['does not exist', () => (service = undefined)],
    ['has no address yet', () => (service = { selector: SELECTOR })],
    [
      'was made an ExternalName',
      () => (service = { type: 'ExternalName', externalName: 'villa.example', selector: SELECTOR }),
    ],
    [
      'leads to other pods',
      () => (service = { clusterIP: HUB, clusterIPs: [HUB], selector: { app: 'other' } }),
    ],
    ['leads to hand-made addresses', () => (service = { clusterIP: HUB, clusterIPs: [HUB] })],
    ['has no address of its own, nor has its pod', () => ((podIP = undefined), (service = headless))],
    ['belongs to another owner', () => (isOurs = false)],
  ])('gets no request when its Service %s, also from an earlier client', async (_, change) => {
    const { rest, connection } = await client();
    change();
    const refused = `${url()} cannot be reached: its Service does not exist, has no address yet, or leads to other pods`;
    await expect(rest.get('/api/config')).rejects.toThrow(refused);
    await expect(rest.get('/api/config')).rejects.toBeInstanceOf(HubUnreachable);
    await expect(connection.command('get_config')).rejects.toThrow(refused);
    expect(await login()).toMatchObject({ message: refused });
    for (const each of [server, stranger]) expect(each).toMatchObject({ requests: [], connects: 0 });
    expect(asked).not.toHaveBeenCalled();
  });

  test('is reached at the new address of a Service that was created again, by the same client', async () => {
    const { rest } = await client();
    service = undefined;
    await expect(rest.get('/api/config')).rejects.toThrow('its Service does not exist');
    service = { clusterIP: HUB, clusterIPs: [HUB], selector: SELECTOR };
    expect(await rest.get('/api/config')).toEqual({ state: 'RUNNING' });
  });

  test('is reached at the address of its pod if the Service has no address', async () => {
    service = headless;
    await (await client()).rest.get('/api/config');
    expect(server.asked('/api/config')).toHaveLength(1);
    expect(asked).not.toHaveBeenCalled();
  });

  test('is reached at the name server’s address in a sandbox', async () => {
    await (await client({ hubUrlAnnotation: 'address' })).rest.get('/api/config');
    expect(stranger.asked('/api/config')).toHaveLength(1);
  });
});

test.each([
  [{}, ['fd00::1', 6]],
  [
    { all: true },
    [
      [
        { address: 'fd00::1', family: 6 },
        { address: '10.96.0.7', family: 4 },
      ],
    ],
  ],
])('the lookup of a Service with addresses of both families answers %j as Node does', (options, answer) => {
  const answered = jest.fn();
  lookupAs(() => ['fd00::1', '10.96.0.7'])('villa.home.svc', options, answered);
  expect(answered).toHaveBeenCalledWith(null, ...answer);
});
