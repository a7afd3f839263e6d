import { CONTENT_SEEN_LIMIT, VOLUME_REFRESH_INTERVAL } from '../../base/limits';
import { operatorAnnotations } from '../../kinds/annotations';
import { objectNames } from '../../kinds/object-names';
import { isNotFound } from '../../runtime/api-errors';
import { pathOf } from '../../runtime/objects';
import { builtin } from '../../runtime/types';
import type { Services } from '../services';

/**
 * Makes the kubelet refresh the mounted volumes of the hub's pod within about a second, by a changed
 * annotation on the pod. Without it a refresh takes a minute or more. A change that arrives before the
 * kubelet knows of the changed ConfigMap has no effect, so callers repeat it.
 */
async function refreshVolumes(
  { cluster, clock }: Pick<Services, 'cluster' | 'clock'>,
  namespace: string,
  hub: string,
): Promise<void> {
  try {
    await cluster.request({
      method: 'PATCH',
      path: pathOf(builtin.Pod, namespace, objectNames(hub).pod),
      contentType: 'application/merge-patch+json',
      body: { metadata: { annotations: { [operatorAnnotations.refresh]: String(clock.now()) } } },
    });
  } catch (error) {
    if (!isNotFound(error)) throw error; // the pod is being replaced, and the next one reads the new files
  }
}

/**
 * Shortest pause after a round of {@link whileRefreshing}, in milliseconds. After a longer round, the pause
 * is as long as the round.
 */
const POLL_INTERVAL = 300;
const LEAST_ROUNDS = 5;

/**
 * Repeats rounds while the kubelet refreshes the mounted volumes of the hub's pod, until a round resolves
 * with a result.
 *
 * @param round receives a function that returns the milliseconds since the first round began
 * @returns undefined when the time limit is reached
 */
export async function whileRefreshing<T>(
  services: Pick<Services, 'cluster' | 'clock'>,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  round: (elapsed: () => number) => Promise<T | undefined>,
  signal?: AbortSignal,
): Promise<T | undefined> {
  const { clock } = services;
  const began = clock.monotonic();
  let refreshedAt = -Infinity;
  // A round takes long for a large hub on a small machine, so there is a minimum number of rounds.
  for (let rounds = 0; rounds < LEAST_ROUNDS || clock.monotonic() - began < CONTENT_SEEN_LIMIT; rounds++) {
    signal?.throwIfAborted();
    const roundBegan = clock.monotonic();
    if (roundBegan - refreshedAt >= VOLUME_REFRESH_INTERVAL) {
      refreshedAt = roundBegan;
      await refreshVolumes(services, namespace, name);
    }
    const result = await round(() => clock.monotonic() - began);
    if (result !== undefined) return result;
    await clock.sleep(Math.max(POLL_INTERVAL, clock.monotonic() - roundBegan), signal);
  }
  return undefined;
}
