/**
 * The development node: a stand-in for a kubelet, a scheduler and a volume provisioner, so that a cluster on any
 * machine runs hubs without containers, root or images. It binds pending pods to itself, provisions a directory for
 * each claim, writes ConfigMap and Secret volumes, runs containers as processes, probes and restarts them, and writes
 * the pods' status. StatefulSets, EndpointSlices and rollouts are handled by the real controllers.
 *
 * It is not a kubelet:
 * - no image is pulled: every container gets the hub's Python and `hass`, unless a test has put others in the place of
 *   its image (images.ts);
 * - nothing is isolated: securityContext and resource limits are not enforced;
 * - there are no environment variables for Services;
 * - pods have no network: a hub listens on all addresses of this machine, on the port in an annotation of its Service;
 * - `kubectl logs` and `exec` do not work: logs are `<directory>/pods/<namespace>_<pod>_<uid>/<container>.log`, which
 *   are
 *   kept after the pod is deleted.
 * Unsupported fields are rejected: the container waits with the reason SandboxUnsupported and the name of the field.
 */
import { setMaxListeners } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { KubernetesObject } from '@kubernetes/client-node';
import type { ForkServer } from '../fork-server';
import type { HubSoftware } from '../hub-software';
import { NodeCache } from './node-cache';
import { PodEvents } from './events';
import { softwareOf } from './images';
import { registerNode } from './node-object';
import { Pods } from './pods';
import { Ports } from './ports';
import { Provisioner } from './provisioner';
import { pause } from './pause';
import { Scheduler } from './scheduler';
import { ServiceUrls } from './service-urls';

export { URL_ANNOTATION } from './names';

// Intervals in milliseconds.
const HEARTBEAT_INTERVAL = 60_000;
const REFRESH_DELAY = 5_000;
const STOP_GRACE_SECONDS = 10;

export interface NodeOptions {
  /** Path of an administrator's kubeconfig. */
  kubeconfig: string;
  /** Parent folder of volumes, pods' directories and container logs. */
  directory: string;
  hubSoftware: HubSoftware;
  /** Path of the tether program. */
  tether: string;
  /** Runs hubs and `python3 -c` as forks. Without a fork server each of them is a separate process. */
  forkServer?: ForkServer;
  /**
   * Milliseconds until a changed ConfigMap or Secret reaches volumes, unless the pod itself changes. Default
   * 5 s.
   */
  refreshDelayMs?: number;
  /**
   * Factor by which the timeouts of probes are extended, because hubs are slow on a busy machine. Default 1.
   */
  probePatience?: number;
  log?: (line: string) => void;
}

/** Resolves when the node accepts pods. `stop` ends every process within 10 s and changes nothing in the cluster. */
export async function startNode(options: NodeOptions): Promise<{ stop(): Promise<void> }> {
  const { kubeconfig, directory, tether, hubSoftware } = options;
  const { refreshDelayMs = REFRESH_DELAY, probePatience = 1 } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  // Every wait adds a listener to the signal, so Node.js would warn of a leak that does not exist.
  setMaxListeners(0, signal);
  let log = options.log;
  const cluster = new NodeCache(kubeconfig, signal, (line) => log?.(line));
  const places = { pods: join(directory, 'pods'), volumes: join(directory, 'volumes') };
  for (const place of Object.values(places)) mkdirSync(place, { recursive: true });

  const events = new PodEvents(cluster);
  const provisioner = new Provisioner(cluster, places.volumes);
  const ports = new Ports(join(directory, 'ports.json'));
  const podHost = {
    cluster,
    events,
    ports,
    directory: places.pods,
    tether,
    ...(options.forkServer && { forkServer: options.forkServer }),
    softwareOf: (image: string | undefined) => softwareOf(directory, image, hubSoftware),
    probePatience,
    portAssigned: (namespace: string) => urls.updateAll(namespace),
  };
  const node = await registerNode(cluster);
  const scheduler = new Scheduler(cluster, node, events);
  const pods = new Pods(cluster, events, podHost, refreshDelayMs);
  const urls = new ServiceUrls(cluster, (namespace, selector) => pods.portOf(namespace, selector));
  await provisioner.createStorageClass();

  followCluster(cluster, { provisioner, scheduler, pods, urls });
  await cluster.start();
  void heartbeat(cluster);

  return {
    async stop() {
      stopping.abort();
      await pods.stop(STOP_GRACE_SECONDS);
      // A request that is still in flight may fail after the log was closed.
      log = undefined;
    },
  };
}

interface Followers {
  readonly provisioner: Provisioner;
  readonly scheduler: Scheduler;
  readonly pods: Pods;
  readonly urls: ServiceUrls;
}

/** Passes each change in the cluster on to the parts of the node that it concerns. */
function followCluster(
  { caches }: Pick<NodeCache, 'caches'>,
  { provisioner, scheduler, pods, urls }: Followers,
): void {
  const sourceChanged = (kind: 'configMap' | 'secret') => (object: KubernetesObject) =>
    pods.sourceChanged(kind, object.metadata?.namespace ?? '', object.metadata?.name ?? '');
  caches.configMaps.on('change', sourceChanged('configMap'));
  caches.secrets.on('change', sourceChanged('secret'));
  caches.claims.on('change', (claim) => {
    provisioner.claimChanged(claim);
    scheduler.claimChanged();
  });
  for (const change of ['add', 'update'] as const) {
    caches.volumes.on(change, (volume) => provisioner.volumeChanged(volume));
    caches.services.on(change, (service) => urls.update(service));
    caches.pods.on(change, (pod) => {
      scheduler.podChanged(pod);
      pods.podChanged(pod);
    });
  }
  caches.pods.on('delete', (pod) => pods.podDeleted(pod));
}

async function heartbeat(cluster: NodeCache): Promise<void> {
  while (await pause(HEARTBEAT_INTERVAL, cluster.signal)) await registerNode(cluster);
}
