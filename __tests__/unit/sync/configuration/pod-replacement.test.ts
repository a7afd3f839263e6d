import { PodReplacement } from '../../../../operator/sync/configuration/pod-replacement';
import type { RestartResult } from '../../../../operator/sync/hub/workload/pod-restarts';
import { aHub, services } from '../fixtures';

function setup() {
  const restarted: unknown[] = [];
  const cluster: { uid: string; result: RestartResult } = { uid: 'first', result: 'deleted' };
  const hub = aHub();
  const given = services({
    cache: {
      get: (kind: string) =>
        (kind === 'Hub' ? hub : { metadata: { name: 'villa-0', uid: cluster.uid } }) as never,
    },
  });
  const pods = new PodReplacement(given, {
    restart: (_, { metadata }) => {
      if (cluster.result === 'deleted') restarted.push(metadata.uid);
      return Promise.resolve(cluster.result);
    },
  });
  return { cluster, restarted, replace: (reason: string) => pods.replace(hub, reason) };
}

describe('PodReplacement', () => {
  test('a pod is replaced once for each reason', async () => {
    const { cluster, restarted, replace } = setup();
    expect(await replace('unseen')).toBe(true);
    cluster.uid = 'second';
    expect(await replace('unseen')).toBe(false);
    expect(await replace('another start')).toBe(true);
    expect(restarted).toEqual(['first', 'second']);
  });

  test('a pod that is left to a rollout is not one that was replaced', async () => {
    const { cluster, restarted, replace } = setup();
    cluster.result = 'rollout';
    expect(await replace('unseen')).toBe(true);
    Object.assign(cluster, { uid: 'second', result: 'deleted' });
    expect(await replace('unseen')).toBe(true);
    expect(restarted).toEqual(['second']);
  });
});
