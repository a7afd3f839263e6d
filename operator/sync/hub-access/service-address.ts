import type { HubAddress } from '../../client/connection/rest';
import { lookupAs } from '../../client/connection/service-address';
import type { Hub } from '../../kinds';
import { objectNames } from '../../kinds/object-names';
import type { ClusterObject } from '../../runtime/objects';
import { builtin } from '../../runtime/types';
import type { Services } from '../services';

export type ConnectionServices = Pick<Services, 'applier' | 'cache' | 'settings'>;

interface Service extends ClusterObject {
  readonly spec?: { readonly clusterIP?: string; readonly clusterIPs?: readonly string[] };
}

/** How connections to a hub of the operator are made: to the addresses of its Service, not of what a name server answers. */
export function hubConnection(
  services: ConnectionServices,
  hub: Hub,
): Pick<HubAddress, 'localAddress' | 'lookup'> {
  const { settings } = services;
  const localAddress = settings.hubSourceAddress || undefined;
  // A sandbox says with the annotation where its hubs are.
  if (settings.hubUrlAnnotation) return { localAddress };
  const { namespace, name } = hub.metadata;
  const lookup = lookupAs(() => {
    const { cache, applier } = services;
    const service = cache.get<Service>(builtin.Service.kind, namespace, objectNames(name).workload);
    if (!service || !applier.isOurs(service, hub)) return [];
    const { clusterIP, clusterIPs } = service.spec ?? {};
    return clusterIPs ?? (clusterIP ? [clusterIP] : []);
  });
  return { localAddress, lookup };
}
