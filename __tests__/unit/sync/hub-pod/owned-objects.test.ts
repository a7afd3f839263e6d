import type { ApiRequest } from '../../../../operator/runtime/api-client';
import { deletePod } from '../../../../operator/sync/hub-pod/owned-objects';
import { conflict, notFound } from '../../runtime/fake-api-client';
import { aHub, services } from '../fixtures';

describe('deletePod', () => {
  /** Makes an API server with one pod of this uid, and records the uids of the pods that were deleted. */
  function serverWith(uid: string | undefined) {
    const deleted: string[] = [];
    const request = async <T>({ body }: ApiRequest): Promise<T> => {
      const expected = (body as { preconditions?: { uid?: string } }).preconditions?.uid;
      if (uid === undefined) throw notFound();
      if (expected !== undefined && expected !== uid) throw conflict();
      deleted.push(uid);
      return {} as T;
    };
    return { deleted, given: services({ cluster: { request } }) };
  }
  const pod = { metadata: { namespace: 'home', name: 'villa-0', uid: 'first' } };

  test('deletes the observed pod', async () => {
    const { deleted, given } = serverWith('first');
    expect(await deletePod(given, aHub(), pod)).toBe(true);
    expect(deleted).toEqual(['first']);
  });

  test('leaves the successor of the pod, whose deletion would be one more restart', async () => {
    const { deleted, given } = serverWith('second');
    expect(await deletePod(given, aHub(), pod)).toBe(false);
    expect(deleted).toEqual([]);
  });

  test('reports that a pod is gone', async () => {
    expect(await deletePod(serverWith(undefined).given, aHub(), pod)).toBe(false);
  });
});
