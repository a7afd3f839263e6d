import { ApiError } from '../../../../operator/runtime/api-errors';
import { PodReplacement } from '../../../../operator/sync/configuration/pod-replacement';
import { aHub, services } from '../fixtures';

function setup() {
  const deleted: unknown[] = [];
  const cluster: { uid: string; error?: Error | undefined } = { uid: 'first' };
  const hub = aHub();
  const given = services({
    cache: {
      get: (kind: string) =>
        (kind === 'Hub' ? hub : { metadata: { name: 'villa-0', uid: cluster.uid } }) as never,
    },
    cluster: {
      request: ({ body }) => {
        if (cluster.error) return Promise.reject(cluster.error);
        deleted.push((body as { preconditions: { uid: string } }).preconditions.uid);
        return Promise.resolve(undefined as never);
      },
    },
  });
  const pods = new PodReplacement(given);
  return { cluster, deleted, replace: (reason: string) => pods.replace(hub, reason) };
}

describe('PodReplacement', () => {
  test('a pod is replaced once for each reason', async () => {
    const { cluster, deleted, replace } = setup();
    expect(await replace('unseen')).toBe(true);
    cluster.uid = 'second';
    expect(await replace('unseen')).toBe(false);
    expect(await replace('another start')).toBe(true);
    expect(deleted).toEqual(['first', 'second']);
  });

  test('a pod that could not be deleted is not one that was replaced', async () => {
    const { cluster, deleted, replace } = setup();
    cluster.error = new ApiError(500, 'InternalError', 'etcd is away');
    await expect(replace('unseen')).rejects.toThrow('etcd is away');
    cluster.error = undefined;
    expect(await replace('unseen')).toBe(true);
    expect(deleted).toEqual(['first']);
  });
});
