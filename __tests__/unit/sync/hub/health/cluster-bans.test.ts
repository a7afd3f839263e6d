import { HubUnreachable } from '../../../../../operator/client/connection/errors';
import { checkClusterBans, isOfCluster } from '../../../../../operator/sync/hub/health/cluster-bans';
import type { Pod } from '../../../../../operator/sync/hub-pod/owned-objects';
import { aHubContext, services } from '../../fixtures';
import { hubClient } from '../../../stand-in-hub/hub-client';

const report = (...banned: readonly string[]) => JSON.stringify({ result: 'absent', banned });

const pod = (verdict = '', spec: Pod['spec'] = {}): Pod => ({
  metadata: { name: 'villa-0' },
  spec,
  status: {
    hostIP: '192.168.1.10',
    hostIPs: [{ ip: '192.168.1.10' }, { ip: 'fd00::10' }],
    podIP: '10.88.0.53',
    initContainerStatuses: [
      { name: 'unban-operator-ip', state: { terminated: { exitCode: 0, message: verdict } } },
    ],
  },
});

/** Returns the notice of the step when the hub shows these notifications, or fails to show them. */
async function noticeOf(present: Pod, notifications: object[] | Error) {
  const command = () =>
    notifications instanceof Error ? Promise.reject(notifications) : Promise.resolve(notifications);
  const client = hubClient({ connection: { command } });
  const given = services({ cache: { get: () => present as never } });
  const context = { ...aHubContext(), url: 'http://h', client, core: {} as never };
  await checkClusterBans(given).run(context);
  return context.notices[0];
}

describe('checkClusterBans', () => {
  test('names an address of the cluster that was banned when the hub started', async () => {
    const verdict = report('203.0.113.9', '10.88.0.1');
    expect(await noticeOf(pod(verdict), [])).toMatch(/^The hub has banned 10\.88\.0\.1 of the cluster/);
  });

  test('names an address that the hub has banned since', async () => {
    const notice = { notification_id: 'ip-ban', message: 'Too many login attempts from 192.168.1.10' };
    expect(await noticeOf(pod(), [{ notification_id: 'x', message: '10.88.0.2' }, notice])).toMatch(
      /^The hub has banned 192\.168\.1\.10 of the cluster/,
    );
  });

  test('ignores visitors from elsewhere', async () => {
    expect(await noticeOf(pod(report('203.0.113.9', '192.168.1.11')), [])).toBeUndefined();
  });

  test('ignores notifications that cannot be read', async () => {
    const verdict = report('10.88.0.1');
    expect(await noticeOf(pod(verdict), new HubUnreachable('gone'))).toContain('10.88.0.1');
  });
});

describe('isOfCluster', () => {
  test.each([
    ['10.88.200.1', true],
    ['10.89.0.1', false],
    ['192.168.1.10', true],
    ['fd00::10', true],
    ['fd00::11', false],
  ])('returns for %s: %s', (address, expected) => {
    expect(isOfCluster(address, pod())).toBe(expected);
  });

  test('knows only the node where the pod shares its network', () => {
    const onHost = pod('', { hostNetwork: true });
    expect([isOfCluster('192.168.1.10', onHost), isOfCluster('10.88.0.1', onHost)]).toEqual([true, false]);
  });
});
