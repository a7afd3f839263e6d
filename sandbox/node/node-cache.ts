/** The node's API clients and caches. */
import {
  CoreV1Api,
  KubeConfig,
  StorageV1Api,
  type PatchStrategy,
  setHeaderOptions,
} from '@kubernetes/client-node';
import { makeCache, startCache } from './informers';
import type { Lookup } from './lookup';
import type { Log } from './retry';

export const MERGE_PATCH = setHeaderOptions(
  'Content-Type',
  'application/merge-patch+json' satisfies PatchStrategy,
);

export class NodeCache {
  readonly core: CoreV1Api;
  readonly storage: StorageV1Api;
  readonly caches;
  readonly lookup: Lookup;

  constructor(
    kubeconfig: string,
    readonly signal: AbortSignal,
    readonly log: Log,
  ) {
    const config = new KubeConfig();
    config.loadFromFile(kubeconfig);
    this.core = config.makeApiClient(CoreV1Api);
    this.storage = config.makeApiClient(StorageV1Api);
    const { core } = this;
    this.caches = {
      configMaps: makeCache(config, '/api/v1/configmaps', () => core.listConfigMapForAllNamespaces()),
      secrets: makeCache(config, '/api/v1/secrets', () => core.listSecretForAllNamespaces()),
      volumes: makeCache(config, '/api/v1/persistentvolumes', () => core.listPersistentVolume()),
      claims: makeCache(config, '/api/v1/persistentvolumeclaims', () =>
        core.listPersistentVolumeClaimForAllNamespaces(),
      ),
      services: makeCache(config, '/api/v1/services', () => core.listServiceForAllNamespaces()),
      pods: makeCache(config, '/api/v1/pods', () => core.listPodForAllNamespaces()),
    };
    const { configMaps, secrets, claims, volumes } = this.caches;
    this.lookup = {
      configMap: (namespace, name) => configMaps.get(name, namespace),
      secret: (namespace, name) => secrets.get(name, namespace),
      claim: (namespace, name) => claims.get(name, namespace),
      volume: (name) => volumes.get(name),
    };
  }

  /**
   * Starts the caches, with pods last, so that the objects to which pods refer are cached first. Callbacks
   * must be registered before.
   */
  async start(): Promise<void> {
    const { signal, log, caches } = this;
    const { pods, ...others } = caches;
    for (const [what, cache] of Object.entries(others)) await startCache(cache as never, what, signal, log);
    await startCache(pods, 'pods', signal, log);
  }
}
