import {
  makeInformer,
  type Informer,
  type KubeConfig,
  type KubernetesListObject,
  type KubernetesObject,
  type ObjectCache,
} from '@kubernetes/client-node';
import { pause, pauseAfter } from './pause';
import { describe, type Log } from './retry';

type Cache<T extends KubernetesObject> = Informer<T> & ObjectCache<T>;

/**
 * Creates an informer of the client library; {@link startCache} restarts it after errors. Two properties of the
 * library: its line parser swallows errors of callbacks, so callbacks must not throw; and an object that was deleted
 * and recreated while the watch was down arrives as an update with another uid.
 */
export function makeCache<T extends KubernetesObject>(
  kubeConfig: KubeConfig,
  path: string,
  list: () => Promise<KubernetesListObject<T>>,
): Cache<T> {
  return makeInformer(kubeConfig, path, list);
}

/**
 * Starts an informer and restarts it after errors: the library's informer stops at the first one, such as a restart of
 * the API server. Resolves when the cache is filled; rejects when the first list fails.
 */
export async function startCache<T extends KubernetesObject>(
  cache: Cache<T>,
  what: string,
  signal: AbortSignal,
  log: Log,
): Promise<void> {
  let failures = 0;
  let running = false;
  let firstError: unknown;
  const restart = async (error: unknown) => {
    firstError ??= error;
    if (!running || signal.aborted) return;
    log(`watch of ${what}: ${describe(error)}; retrying in ${pauseAfter(failures)} ms`);
    if (await pause(pauseAfter(failures++), signal)) await cache.start();
  };
  cache.on('error', (error: unknown) => void restart(error));
  cache.on('change', () => (failures = 0));
  signal.addEventListener('abort', () => void cache.stop(), { once: true });
  await cache.start();
  if (firstError) throw new Error(`cannot list ${what}: ${describe(firstError)}`);
  running = true;
}
