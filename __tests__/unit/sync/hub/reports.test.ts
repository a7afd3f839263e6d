import type { HubClient } from '../../../../operator/client/hub-client';
import { addReport } from '../../../../operator/sync/hub/reports';
import { aHub, aHubContext } from '../fixtures';

describe('addReport', () => {
  test('requests the report of the volume that this reconcile has found, which status does not name yet', async () => {
    const volumes: unknown[] = [];
    const step = addReport('delivery', (hub) => {
      volumes.push(hub.status?.volumeID);
      return Promise.resolve({ notice: 'Nearly full.' });
    });
    const hub = aHub({ status: { volumeID: 'former' } });
    const given = { ...aHubContext(hub), url: 'http://villa', client: {} as HubClient, core: {} as never };
    await step.run(given);
    await step.run({ ...given, status: { volumeID: 'present' } });
    expect(volumes).toEqual(['former', 'present']);
    expect(given.notices).toEqual(['Nearly full.', 'Nearly full.']);
  });
});
