import type { HubAddress } from '../../client/connection/hub-address';
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

/** `spec.clusterIP` of a Service that has no cluster IP. */
const HEADLESS = 'None';

/**
 * Connection options for a hub that the operator runs. Connections go to the addresses of its Service from
 * the cache, not to addresses that a DNS server returns.
 */
export function hubConnection(
  services: ConnectionServices,
  hub: Hub,
): Pick<HubAddress, 'localAddress' | 'lookup'> {
  const { settings } = services;
  const localAddress = settings.hubSourceAddress || undefined;
  // In a sandbox the annotation has the address of the hub.
  if (settings.hubUrlAnnotation) return { localAddress };
  return { localAddress, lookup: lookupAs(() => addressesOf(services, hub)) };
}

/**
 * The addresses of the Hub's Service. The list is empty if no Service leads only to the pod of this Hub, and
 * then nothing is sent.
 */
function addressesOf({ cache, applier }: ConnectionServices, hub: Hub): readonly string[] {
  const { namespace, name } = hub.metadata;
  const names = objectNames(name);
  const service = cache.get<Service>(builtin.Service.kind, namespace, names.workload);
  if (!service || !applier.isOurs(service, hub) || !selectsPodOf(hub, service)) return [];
  const { clusterIP = '', clusterIPs = [clusterIP] } = service.spec ?? {};
  const podIP = () => cache.get<Pod>(builtin.Pod.kind, namespace, names.pod)?.status?.podIP ?? '';
  return (clusterIP === HEADLESS ? [podIP()] : clusterIPs).filter((address) => address !== '');
}

/**
 * Reports whether the Service selects the pod of the Hub. If someone has changed the selector, it stays so
 * while the Hub is suspended or its Service cannot be applied.
 */
const selectsPodOf = (hub: Hub, { spec }: Service): boolean =>
  Object.entries(selectorOf(hub)).every(([key, value]) => spec?.selector?.[key] === value);
