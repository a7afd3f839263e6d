import { HubUnreachable } from '../../../operator/client/connection/errors';
import { HubClient } from '../../../operator/client/hub-client';
import { silentLog } from '../../cluster/silent-log';
import { ManualClock } from '../manual-clock';
import { certificate } from './certificate';
import { FakeHub } from './fake-hub';

describe('HubClient: a hub behind a certificate of its own', () => {
  test.each([
    ['is reached with that authority', certificate, true],
    ['is not reached without', undefined, false],
  ])('%s', async (_what, ca, reached) => {
    const hub = await FakeHub.start('https');
    const client = new HubClient({
      url: hub.url,
      token: 'good-token',
      ca,
      clock: new ManualClock(),
      log: silentLog,
    });
    const answers = await Promise.allSettled([
      client.rest.get('/manifest.json'),
      client.connection.command('get_config'),
    ]);
    for (const answer of answers) {
      if (reached) expect(answer.status).toBe('fulfilled');
      else expect(answer).toMatchObject({ reason: expect.any(HubUnreachable) });
    }
    client.close();
    await hub.close();
  });
});
