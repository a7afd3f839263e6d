import type { V1Service } from '@kubernetes/client-node';
import { MERGE_PATCH, type NodeCache } from './node-cache';
import { URL_ANNOTATION } from './names';
import { retry } from './retry';

/**
 * Annotates each Service with the URL of its pod on this machine, because there is no pod network. The URL
 * stays when the pod is deleted, since the next pod of that name gets the same port.
 */
export class ServiceUrls {
  constructor(
    private readonly cluster: NodeCache,
    private readonly portOf: (namespace: string, selector: Record<string, string>) => number | undefined,
  ) {}

  update(service: V1Service): void {
    const { core, signal, log } = this.cluster;
    const { name = '', namespace = '', annotations, deletionTimestamp } = service.metadata ?? {};
    const selector = service.spec?.selector ?? {};
    if (deletionTimestamp || Object.keys(selector).length === 0) return;
    const port = this.portOf(namespace, selector);
    const url = `http://127.0.0.1:${port}`;
    if (port === undefined || annotations?.[URL_ANNOTATION] === url) return;
    const body = { metadata: { annotations: { [URL_ANNOTATION]: url } } };
    const request = () => core.patchNamespacedService({ name, namespace, body }, MERGE_PATCH);
    void retry(`URL of service ${namespace}/${name}`, request, signal, log);
  }

  /** To be called when a pod of this namespace was assigned its port. */
  updateAll(namespace: string): void {
    for (const service of this.cluster.caches.services.list(namespace)) this.update(service);
  }
}
