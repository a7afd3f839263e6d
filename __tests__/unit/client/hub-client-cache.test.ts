import { HubUnreachable } from '../../../operator/client/connection/errors';
import { HubClientCache } from '../../../operator/client/hub-client-cache';
import { silentLog } from '../../cluster/silent-log';
import { ManualClock } from '../manual-clock';
import { FakeHub } from './fake-hub';

let hub: FakeHub;
let hubs: HubClientCache;

beforeEach(async () => {
  hub = await FakeHub.start();
  hubs = new HubClientCache({ clock: new ManualClock(), log: silentLog });
});

afterEach(async () => {
  hubs.close();
  await hub.close();
});

describe('HubClientCache', () => {
  test('has one client and one connection per hub', async () => {
    const access = { url: hub.url, token: 'good-token' };
    const client = hubs.get('home/mill', access);
    await Promise.all([
      client.connection.command('get_config'),
      hubs.get('home/mill', { ...access }).connection.command('get_config'),
    ]);
    expect(hubs.get('home/mill', access)).toBe(client);
    expect(hubs.get('home/barn', access)).not.toBe(client);
    expect(hub.connects).toBe(1);
  });

  test.each([
    ['token', { token: 'new-token' }],
    ['address', { url: 'http://127.0.0.1:9' }],
    ['certificate', { ca: 'other' }],
    ['source address', { localAddress: '127.0.0.2' }],
  ])('replaces and closes a client whose %s changed', async (_what, change) => {
    const access = { url: hub.url, token: 'good-token' };
    const old = hubs.get('home/mill', access);
    await old.connection.command('get_config');
    expect(hubs.get('home/mill', { ...access, ...change })).not.toBe(old);
    await expect(old.connection.command('get_config')).rejects.toThrow(HubUnreachable);
    await expect(old.rest.get('/manifest.json')).rejects.toThrow(HubUnreachable);
  });

  test('closes the clients that it forgets', async () => {
    const client = hubs.get('home/mill', { url: hub.url, token: 'good-token' });
    hubs.forget('home/mill');
    hubs.forget('home/none');
    await expect(client.connection.command('get_config')).rejects.toThrow(HubUnreachable);
  });

  test('masks the secrets that it was given last, and the token', async () => {
    hub.onCommand = (command) => command.fail('invalid_format', 'good-token old-secret new-secret');
    const access = { url: hub.url, token: 'good-token' };
    const client = hubs.get('home/mill', access, ['old-secret']);
    await expect(client.connection.command('get_config')).rejects.toThrow('*** *** new-secret');
    hubs.get('home/mill', access);
    await expect(client.connection.command('get_config')).rejects.toThrow('*** *** new-secret');
    hubs.get('home/mill', access, ['new-secret']);
    await expect(client.connection.command('get_config')).rejects.toThrow('*** old-secret ***');
  });
});
