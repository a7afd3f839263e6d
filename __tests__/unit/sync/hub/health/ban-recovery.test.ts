import type { Hub, HubStatus } from '../../../../../operator/kinds/index';
import type { Waiting } from '../../../../../operator/runtime/outcome';
import { BanRecovery } from '../../../../../operator/sync/hub/health/ban-recovery';
import type { Occupation } from '../../../../../operator/sync/hub-pod/pod-restarts';
import type { HubContext } from '../../../../../operator/sync/hub/steps';
import { silentLog } from '../../../../cluster/silent-log';
import { ManualClock } from '../../../manual-clock';
import { services } from '../../fixtures';

// Events between two reconciles. integration/hub/ban.test.ts covers a real hub and its bans.

const clock = new ManualClock();
const oldPod = { metadata: { name: 'h-0', uid: 'pod-1', creationTimestamp: '2025-12-31T00:00:00Z' } };
let pod: object;
let deleted: string[];
let occupation: Occupation | undefined;
let latest: object | undefined;
let unban: BanRecovery;

const banRecovery = (podIp: string) =>
  new BanRecovery(
    services({
      clock,
      settings: { podIp },
      cache: { get: (kind: string) => (kind === 'Pod' ? pod : latest) as never },
      cluster: {
        request: ({ method, path }) => {
          deleted.push(`${method} ${path}`);
          return Promise.resolve(undefined as never);
        },
      },
    }),
    { occupation: () => Promise.resolve(occupation) },
  );

beforeEach(() => {
  deleted = [];
  [occupation, latest] = [undefined, undefined];
  pod = oldPod;
  unban = banRecovery('10.0.0.1');
});

function reconcile(status: HubStatus, enabled = true) {
  const hub = { metadata: { namespace: 'home', name: 'h', uid: '1' }, spec: {}, status } as unknown as Hub;
  const context = {
    hub,
    spec: { banRecovery: { enabled } },
    reconcile: { log: silentLog },
    status: {},
    conditions: {},
  };
  return unban.recover(context as unknown as HubContext, 'banned') as Promise<Waiting>;
}

describe('BanRecovery', () => {
  test('deletes the pod once the restart is counted in the status', async () => {
    const { status } = await reconcile({});
    expect(deleted).toEqual([]);
    expect(status).toMatchObject({ selfUnbanCount: 1, banWindow: { restarts: 1 } });
    await reconcile(status as HubStatus);
    expect(deleted).toEqual(['DELETE /api/v1/namespaces/home/pods/h-0']);
  });

  test.each(['start', 'backup'] as const)(
    'interrupts no %s, and counts no restart for it',
    async (activity) => {
      occupation = activity;
      const waits = await reconcile({});
      expect(waits).toMatchObject({ type: 'Waiting', reason: 'HubBanned', after: 10_000 });
      expect(waits.message).toContain(
        `waits for the end of ${activity === 'start' ? 'the start' : 'a backup'}`,
      );
      expect(waits.status).toEqual({ phase: 'Unknown' });
      occupation = undefined;
      await reconcile((await reconcile({})).status as HubStatus);
      expect(deleted).toHaveLength(1);
    },
  );

  test('interrupts no backup that has begun since the restart was counted, and counts it once', async () => {
    const { status } = await reconcile({});
    occupation = 'backup';
    expect((await reconcile(status as HubStatus)).message).toContain('waits for the end of a backup');
    occupation = undefined;
    await reconcile(status as HubStatus);
    expect(deleted).toHaveLength(1);
  });

  test('restarts no Hub that is suspended while its hub is asked', async () => {
    const { status } = await reconcile({});
    latest = { metadata: { uid: '1' }, spec: { suspend: true } };
    expect(await reconcile(status as HubStatus)).toMatchObject({ reason: 'HubBanned', after: 10_000 });
    expect(await reconcile({})).toMatchObject({ status: { phase: 'Unknown' } });
    expect(deleted).toEqual([]);
  });

  test('does not delete the pod while the status with the count was not written', async () => {
    await reconcile({});
    await clock.advance(2_000);
    const { status } = await reconcile({});
    expect(deleted).toEqual([]);
    expect(status).toMatchObject({ selfUnbanCount: 1, lastSelfUnban: '2026-01-01T00:00:02Z' });
    await reconcile(status as HubStatus);
    expect(deleted).toHaveLength(1);
  });

  test('is stalled at the limit and reconciles again when the window ends', async () => {
    const before = new Date(clock.now() - 20 * 60_000).toISOString();
    const outcome = await reconcile({
      lastSelfUnban: new Date(clock.now() - 6 * 60_000).toISOString(),
      banWindow: { startedAt: before, restarts: 3 },
    });
    expect(outcome).toMatchObject({
      after: 10 * 60_000,
      type: 'Stalled',
      reason: 'HubBanned',
      conditions: {
        BanRecoveryFailed: { status: 'True', reason: 'RestartLimitExceeded' },
      },
      status: { phase: 'Failed' },
    });
  });

  test.each([
    ['in the second before the one that status shows', '2026-01-01T00:00:09Z', 'RestartDidNotHelp'],
    ['long before', '2025-12-31T00:00:00Z', 'Recovering'],
  ])('treats the report of a pod that started %s correctly', async (_, creationTimestamp, reason) => {
    const message = JSON.stringify({ result: 'absent', address: '10.0.0.1', banned: ['10.0.0.2'] });
    pod = {
      metadata: { ...oldPod.metadata, creationTimestamp },
      status: { initContainerStatuses: [{ name: 'unban-operator-ip', state: { terminated: { message } } }] },
    };
    const at = '2026-01-01T00:00:10Z';
    const outcome = await reconcile({ lastSelfUnban: at, banWindow: { startedAt: at, restarts: 1 } });
    expect(outcome).toMatchObject({ conditions: { BanRecoveryFailed: { reason } } });
  });

  test('names the finalizers of a pod that does not end', async () => {
    const deletionTimestamp = new Date(clock.now()).toISOString();
    pod = { metadata: { ...oldPod.metadata, deletionTimestamp, finalizers: ['example.org/guard'] } };
    expect((await reconcile({})).message).toMatch(/is being restarted to lift the ban\.$/);
    await clock.advance(2 * 60_000);
    expect((await reconcile({})).message).toMatch(/ Its finalizers hold it: example\.org\/guard\. /);
  });

  test('removes its condition when it is switched off', async () => {
    expect(await reconcile({}, false)).toMatchObject({ conditions: { BanRecoveryFailed: null } });
  });

  test('names the address that has to be removed by hand', async () => {
    const at = new Date(clock.now() - 6 * 60_000).toISOString();
    const outcome = await reconcile({ lastSelfUnban: at, banWindow: { startedAt: at, restarts: 3 } });
    expect(outcome.message).toMatch(/did not lift the ban on 10\.0\.0\.1: remove 10\.0\.0\.1 from ip_bans/);
  });

  test('restarts nothing while the operator does not know its own address, and reports that', async () => {
    unban = banRecovery('');
    expect(await reconcile({})).toMatchObject({
      message: expect.stringContaining('POD_IP is not set'),
      conditions: { BanRecoveryFailed: { status: 'True', reason: 'OperatorAddressUnknown' } },
    });
    expect(deleted).toEqual([]);
  });
});
