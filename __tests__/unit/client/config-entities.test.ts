import { HubClient } from '../../../operator/client/hub-client';
import { HubRejected } from '../../../operator/client/errors';
import { silentLog } from '../../cluster/silent-log';
import { ManualClock } from '../manual-clock';
import { FakeHub, json, text } from './fake-hub';

let hub: FakeHub;
let client: HubClient;

beforeEach(async () => {
  hub = await FakeHub.start();
  client = new HubClient({ url: hub.url, token: 'good-token', clock: new ManualClock(), log: silentLog });
});
afterEach(async () => {
  client.close();
  await hub.close();
});

describe('ConfigEntities', () => {
  // Which of the two a view answers depends on the version of the hub and on the view.
  test.each([400, 404])(
    'an object that the hub does not know, with status %d, is removed already',
    async (status) => {
      const unknown = json(status, { message: 'Resource not found' });
      hub.routes.set('DELETE /api/config/automation/config/porch', unknown);
      hub.routes.set('GET /api/config/automation/config/porch', unknown);
      expect(await client.entities.remove('automation', 'porch')).toBe(false);
      expect(await client.entities.read('automation', 'porch')).toBeUndefined();
    },
  );

  test.each([
    ['a part of the API that is not loaded', text(404, '404: Not Found')],
    ['another complaint', json(400, { message: 'Message malformed' })],
  ])('%s is no sign that the object is removed', async (_, answer) => {
    hub.routes.set('DELETE /api/config/automation/config/porch', answer);
    await expect(client.entities.remove('automation', 'porch')).rejects.toThrow(HubRejected);
  });
});
