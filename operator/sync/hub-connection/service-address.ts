import type { HubAddress } from '../../client/connection/rest';
import { lookupAs } from '../../client/connection/service-address';
import type { Hub } from '../../kinds';
import { objectNames, selectorOf } from '../../kinds/object-names';
import type { ClusterObject } from '../../runtime/objects';
import { builtin } from '../../runtime/types';
import type { Services } from '../services';

export type ConnectionServices = Pick<Services, 'applier' | 'cache' | 'settings'>;

interface Service extends ClusterObject {
  readonly spec?: {
    readonly clusterIP?: string;
    readonly clusterIPs?: readonly string[];
    readonly selector?: Readonly<Record<string, string>>;
  };
}

interface Pod extends ClusterObject {
  readonly status?: { readonly podIP?: string };
}

/** `spec.clusterIP` of a Service without an address of its own. */
const HEADLESS = 'None';

/** How connections to a hub of the operator are made: to the addresses of its Service, not of what a name server answers. */
export function hubConnection(
  services: ConnectionServices,
  hub: Hub,
): Pick<HubAddress, 'localAddress' | 'lookup'> {
  const { settings } = services;
  const localAddress = settings.hubSourceAddress || undefined;
  // A sandbox says with the annotation where its hubs are.
  if (settings.hubUrlAnnotation) return { localAddress };
  return { localAddress, lookup: lookupAs(() => addressesOf(services, hub)) };
}

/** None: there is no Service that leads to the pod of this Hub alone, and nothing is sent. */
function addressesOf({ cache, applier }: ConnectionServices, hub: Hub): readonly string[] {
  const { namespace, name } = hub.metadata;
  const names = objectNames(name);
  const service = cache.get<Service>(builtin.Service.kind, namespace, names.workload);
  if (!service || !applier.isOurs(service, hub) || !selectsPodOf(hub, service)) return [];
  const { clusterIP = '', clusterIPs = [clusterIP] } = service.spec ?? {};
  const podIP = () => cache.get<Pod>(builtin.Pod.kind, namespace, names.pod)?.status?.podIP ?? '';
  return (clusterIP === HEADLESS ? [podIP()] : clusterIPs).filter((address) => address !== '');
}

/** False: someone has changed the Service, which stays so while the Hub is suspended or its Service cannot be applied. */
const selectsPodOf = (hub: Hub, { spec }: Service): boolean =>
  Object.entries(selectorOf(hub)).every(([key, value]) => spec?.selector?.[key] === value);
