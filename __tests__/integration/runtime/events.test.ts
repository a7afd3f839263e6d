import { systemClock } from '../../../operator/base/clock';
import { EventWriter } from '../../../operator/runtime/event-writer';
import { EventRecorder } from '../../../operator/runtime/events';
import type { CustomResource } from '../../../operator/kinds/resource';
import type { ApiClient } from '../../../operator/runtime/api-client';
import { freshNamespace, mustKubectl } from '../../cluster';
import { adminCluster } from '../../cluster/admin-cluster';
import { silentLog } from '../../cluster/silent-log';
import { createFloor } from './floors';

interface EventList {
  readonly items: readonly {
    readonly reason: string;
    readonly type: string;
    readonly message: string;
    readonly count: number;
  }[];
}

let namespace: string;
let cluster: ApiClient;
let floor: CustomResource;

beforeAll(async () => {
  namespace = await freshNamespace('events');
  cluster = adminCluster();
  floor = await createFloor(cluster, namespace, 'kitchen');
});

const recorder = () =>
  new EventRecorder(new EventWriter(cluster, systemClock, 'operator-0'), systemClock, silentLog);

async function events(name: string): Promise<EventList['items']> {
  const selector = `--field-selector=involvedObject.name=${name},involvedObject.kind=HubFloor`;
  return (
    JSON.parse(await mustKubectl(['get', 'events', selector, '-o', 'json'], { namespace })) as EventList
  ).items;
}

describe('EventRecorder', () => {
  test('an event is found at its object, and a repetition increments its count', async () => {
    const record = recorder();
    for (let time = 0; time < 3; time++) {
      record.record(floor, {
        type: 'Warning',
        reason: 'HubUnreachable',
        message: 'The hub does not answer.',
      });
    }
    record.record(floor, { type: 'Normal', reason: 'AutomationGenerated', message: 'In sync.' });
    await record.drain();
    const found = await events('kitchen');
    expect(found.map(({ type, reason, count }) => `${type} ${reason} ${count}`).sort()).toEqual([
      'Normal AutomationGenerated 1',
      'Warning HubUnreachable 3',
    ]);
    expect(await mustKubectl(['describe', 'hubfloor', 'kitchen'], { namespace })).toContain(
      'The hub does not answer.',
    );
  });

  test('an event that has expired starts a new one', async () => {
    const note = { type: 'Warning', reason: 'CleanupFailed', message: 'again' } as const;
    const record = recorder();
    record.record(floor, note);
    await record.drain();
    await mustKubectl(['delete', 'events', '--all'], { namespace });
    record.record(floor, note);
    await record.drain();
    expect((await events('kitchen')).map(({ reason }) => reason)).toEqual(['CleanupFailed']);
  });

  test('a namespace that is gone is no error', async () => {
    const resource = { ...floor, metadata: { ...floor.metadata, namespace: 'no-such-namespace' } };
    const record = recorder();
    record.record(resource, { type: 'Normal', reason: 'DriftDetected', message: '' });
    await expect(record.drain()).resolves.toBeUndefined();
  });
});
