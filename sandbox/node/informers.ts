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

export type Cache<T extends KubernetesObject> = Informer<T> & ObjectCache<T>;

/**
 * An informer that goes on: the library's stops at the first error (an API server that restarts is one). TRAPS: what a
 * callback throws is swallowed by the library's line parser, so callbacks must not throw; and an object that was deleted
 * and recreated while the watch was down arrives as an update with another uid.
 */
export function makeCache<T extends KubernetesObject>(
  kubeConfig: KubeConfig,
  path: string,
  list: () => Promise<KubernetesListObject<T>>,
): Cache<T> {
  return makeInformer(kubeConfig, path, list);
}

/** Resolves when the cache is filled; rejects when the first list fails. After that it is kept going. */
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
    log(`watch of ${what}: ${describe(error)}; again in ${pauseAfter(failures)} ms`);
    if (await pause(pauseAfter(failures++), signal)) await cache.start();
  };
  cache.on('error', (error: unknown) => void restart(error));
  cache.on('change', () => (failures = 0));
  signal.addEventListener('abort', () => void cache.stop(), { once: true });
  await cache.start();
  if (firstError) throw new Error(`cannot list ${what}: ${describe(firstError)}`);
  running = true;
}
