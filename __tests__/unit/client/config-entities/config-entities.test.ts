import { HubClient } from '../../../../operator/client/hub-client';
import { HubRejected, HubUnreachable } from '../../../../operator/client/connection/errors';
import { silentLog } from '../../../cluster/silent-log';
import { ManualClock, settle } from '../../manual-clock';
import { until } from '../../until';
import { FakeHub, json, text } from '../fake-hub';

let hub: FakeHub;
let client: HubClient;
let clock: ManualClock;

beforeEach(async () => {
  hub = await FakeHub.start();
  clock = new ManualClock();
  client = new HubClient({ url: hub.url, token: 'good-token', clock, log: silentLog });
});
afterEach(async () => {
  client.close();
  await hub.close();
});

describe('ConfigEntities', () => {
  // The status depends on the version of the hub and on the view.
  test.each([400, 404])(
    'an object that the hub does not know, with status %d, counts as removed already',
    async (status) => {
      const unknown = json(status, { message: 'Resource not found' });
      hub.routes.set('DELETE /api/config/automation/config/porch', unknown);
      hub.routes.set('GET /api/config/automation/config/porch', unknown);
      expect(await client.entities.remove('automation', 'porch')).toBe(false);
      expect(await client.entities.read('automation', 'porch')).toBeUndefined();
    },
  );

  test('a removal is prepared in its turn, and not if nothing is removed', async () => {
    hub.routes.set('DELETE /api/config/automation/config/porch', json(200, { result: 'ok' }));
    const prepared: string[] = [];
    const remove = (name: string, isNeeded: boolean) =>
      client.entities.remove('automation', 'porch', {
        shouldRemove: () => isNeeded,
        prepare: async () => void prepared.push(`${name} after ${hub.requests.length}`),
      });
    await Promise.all([remove('first', true), remove('needless', false), remove('second', true)]);
    expect(prepared).toEqual(['first after 0', 'second after 1']);
  });

  test('while the hub cannot read its file, a request fails with the cause that the hub’s answer does not have', async () => {
    const failed = text(500, 'Server got itself in trouble');
    for (const method of ['GET', 'POST', 'DELETE'])
      hub.routes.set(`${method} /api/config/script/config/porch`, failed);
    const cause = /: the hub fails so while it cannot read scripts\.yaml: .*!secret/;
    await expect(client.entities.read('script', 'porch')).rejects.toThrow(cause);
    await expect(client.entities.write('script', 'porch', { sequence: [] })).rejects.toThrow(cause);
    await expect(client.entities.remove('script', 'porch')).rejects.toThrow(cause);
    hub.routes.set('GET /api/config/script/config/porch', text(507, 'no space left on device'));
    await expect(client.entities.read('script', 'porch')).rejects.toThrow(/no space left on device$/);
  });

  test('a reload waits for a removal in flight, which the reload would undo in the registry', async () => {
    let answer = () => {};
    hub.routes.set('DELETE /api/config/automation/config/porch', (_request, response) => {
      answer = () => response.writeHead(200, { 'content-type': 'application/json' }).end('{"result":"ok"}');
    });
    hub.routes.set('POST /api/services/automation/reload', json(200, []));
    const paths = () => hub.requests.map(({ path }) => path);
    const removal = client.entities.remove('automation', 'porch');
    await until(() => paths().includes('/api/config/automation/config/porch'));
    const post = jest.spyOn(client.rest, 'post');
    const reload = client.entities.reload('automation');
    await settle();
    expect(post).not.toHaveBeenCalled();
    answer();
    await Promise.all([removal, reload]);
    expect(paths()).toContain('/api/services/automation/reload');
  });

  test('a read after the writes waits for a write in flight', async () => {
    const path = '/api/config/automation/config/porch';
    let answer = () => {};
    hub.routes.set(`POST ${path}`, (_request, response) => {
      answer = () => response.writeHead(200, { 'content-type': 'application/json' }).end('{"result":"ok"}');
    });
    hub.routes.set(`GET ${path}`, json(200, { alias: 'Porch' }));
    const requests = () => hub.requests.filter((each) => each.path === path).length;
    const write = client.entities.write('automation', 'porch', {});
    const read = client.entities.readAfterWrites('automation', 'porch');
    await until(() => requests() > 0);
    await settle();
    expect(requests()).toBe(1);
    answer();
    await write;
    expect(await read).toEqual({ alias: 'Porch' });
  });

  test('the time of a write without an answer is known, since the hub may still execute it', async () => {
    const path = 'POST /api/config/automation/config/porch';
    hub.routes.set(path, json(200, { result: 'ok' }));
    await client.entities.write('automation', 'porch', {});
    expect(client.entities.lastCutAt).toBe(-Infinity);
    await clock.advance(7_000);
    hub.routes.set(path, (_request, response) => response.destroy());
    await expect(client.entities.write('automation', 'porch', {})).rejects.toThrow(HubUnreachable);
    expect(client.entities.lastCutAt).toBe(7_000);
  });

  test.each([
    ['a part of the API that is not loaded', text(404, '404: Not Found')],
    ['another complaint', json(400, { message: 'Message malformed' })],
  ])('%s does not prove that the object is removed', async (_, answer) => {
    hub.routes.set('DELETE /api/config/automation/config/porch', answer);
    await expect(client.entities.remove('automation', 'porch')).rejects.toThrow(HubRejected);
  });
});
