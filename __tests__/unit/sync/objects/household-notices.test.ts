import type { HubClient } from '../../../../operator/client/hub-client';
import { HubRejected } from '../../../../operator/client/connection/errors';
import type { Hub } from '../../../../operator/kinds';
import type { CustomResource } from '../../../../operator/kinds/resource';
import { HouseholdNotices } from '../../../../operator/sync/objects/household-notices';
import { silentLog } from '../../../cluster/silent-log';
import { ManualClock } from '../../manual-clock';
import { aHub } from '../fixtures';
import { hubClient } from '../../stand-in-hub/hub-client';

const HOUR = 3_600_000;

const scene = { kind: 'HubScene', metadata: { namespace: 'home', name: 'film' } } as CustomResource;
const drift = { type: 'Warning', reason: 'DriftDetected', message: 'name: hub has B. It is changed back.' };

let clock: ManualClock;
let calls: { path: string; data: Record<string, string> }[];
let present: { notification_id: string; created_at: string }[];
let reads: number;
let isRefused: boolean;
let client: HubClient;
let notices: HouseholdNotices;

beforeEach(() => {
  clock = new ManualClock();
  calls = [];
  present = [];
  reads = 0;
  isRefused = false;
  client = hubClient({
    rest: {
      post: async (path: string, data: Record<string, string>) => {
        if (isRefused) throw new HubRejected('400', 'no such service');
        calls.push({ path, data });
      },
    },
    connection: { command: async () => (reads++, present) },
  });
  notices = new HouseholdNotices({ clock });
});

const update = (events: readonly object[], hub: Hub = aHub()) =>
  notices.update(scene, hub, client, events as never, { log: silentLog });

test('a reverted change is reported in the hub, once for each resource', async () => {
  await update([drift, { type: 'Normal', reason: 'Created', message: 'other' }]);
  await update([drift]);
  expect(calls.map(({ data }) => data['notification_id'])).toEqual([
    'hub_operator/HubScene/home/film',
    'hub_operator/HubScene/home/film',
  ]);
  expect(calls[0]).toMatchObject({
    path: '/api/services/persistent_notification/create',
    data: { title: 'A change was taken back' },
  });
  expect(calls[0]!.data['message']).toMatch(
    /^name: hub has B\..*\n\nThe resource HubScene film .* spec\.driftPolicy/s,
  );
  expect(calls[0]!.data['message']).not.toContain('other');
});

test('other events are not reported, and none where notifyHousehold is false', async () => {
  await update([{ type: 'Warning', reason: 'Adopted', message: 'x' }]);
  await update([drift], aHub({ spec: { notifyHousehold: false } }));
  expect(calls).toEqual([]);
});

test('a notification is removed after a day; others of the hub stay, and an idle hub is asked once an hour', async () => {
  const at = (hours: number) => new Date(clock.now() + hours * HOUR).toISOString();
  present = [
    { notification_id: 'hub_operator/HubScene/home/film', created_at: at(-23.5) },
    { notification_id: 'hub_operator/HubScene/home/new', created_at: at(0) },
    { notification_id: 'ip-ban', created_at: at(-100) },
  ];
  await update([]);
  expect(reads).toBe(0);
  await clock.advance(HOUR);
  for (let times = 0; times < 5; times++) await update([]);
  expect(reads).toBe(1);
  expect(calls).toEqual([
    {
      path: '/api/services/persistent_notification/dismiss',
      data: { notification_id: 'hub_operator/HubScene/home/film' },
    },
  ]);
  await clock.advance(HOUR);
  await update([]);
  expect(reads).toBe(2);
});

test('a hub that refuses it fails no reconcile', async () => {
  isRefused = true;
  await expect(update([drift])).resolves.toBeUndefined();
});
