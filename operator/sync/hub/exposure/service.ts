import type { Hub, HubSpec } from '../../../kinds/index';
import { objectNames } from '../../../kinds/object-names';
import type { ClusterObject } from '../../../runtime/objects';
import { builtin } from '../../../runtime/types';
import type { Services } from '../../services';
import { HUB_PORT } from '../workload/pod-template';
import type { HubStep } from '../steps';

/** Name of the Service's port. */
export const SERVICE_PORT = 'http';

/** As far as we look into it. */
interface Service extends ClusterObject {
  readonly spec?: { readonly ports?: readonly { readonly name?: string; readonly port: number }[] };
}

/** Labels that only this hub's pod has. */
export function selectorOf(hub: Hub): Record<string, string> {
  return { 'app.kubernetes.io/name': 'home-assistant', 'app.kubernetes.io/instance': hub.metadata.name };
}

/** The Service in front of the hub, and from it the address under which the operator reaches the hub. */
export function serviceStep(services: Services): HubStep {
  return {
    name: 'Service',
    async run(context) {
      const { hub, spec, status } = context;
      const reached = (service: Service | undefined) => {
        context.url = service && hubUrl(services, hub, service);
        status['url'] = context.url ?? null;
      };
      const { namespace, name } = hub.metadata;
      const present = services.cache.get<Service>(
        builtin.Service.kind,
        namespace,
        objectNames(name).workload,
      );
      // What is there leads to the hub, also when the API server does not take what is wanted now.
      reached(present && services.applier.isOurs(present, hub) ? present : undefined);
      reached(await syncService(services, hub, spec));
      return undefined;
    },
  };
}

/** The Service of the hub, as it is then: a sandbox writes the hub's address onto it. */
function syncService({ applier }: Services, hub: Hub, { service }: HubSpec): Promise<Service> {
  const { name, namespace } = hub.metadata;
  const port = {
    name: SERVICE_PORT,
    port: service.port,
    targetPort: HUB_PORT,
    protocol: 'TCP',
    ...(service.nodePort !== undefined && { nodePort: service.nodePort }),
  };
  return applier.apply(
    builtin.Service,
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: {
        name: objectNames(name).workload,
        namespace,
        labels: selectorOf(hub),
        ...(service.annotations && { annotations: service.annotations }),
      },
      spec: {
        type: service.type,
        selector: selectorOf(hub),
        ports: [port],
        ...(service.loadBalancerClass && { loadBalancerClass: service.loadBalancerClass }),
        ...(service.loadBalancerSourceRanges && {
          loadBalancerSourceRanges: service.loadBalancerSourceRanges,
        }),
        ...(service.externalTrafficPolicy && { externalTrafficPolicy: service.externalTrafficPolicy }),
      },
    },
    { owner: hub },
  );
}

/** Carries the operator's address to `unban-operator-ip`. */
export async function syncOperatorIp({ applier, settings }: Services, hub: Hub): Promise<void> {
  if (!settings.podIp) return; // outside of a cluster nobody told us
  await applier.apply(
    builtin.ConfigMap,
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: objectNames(hub.metadata.name).operatorIp, namespace: hub.metadata.namespace },
      data: { ip: settings.podIp },
    },
    { owner: hub },
  );
}

/** Where the operator reaches the hub; undefined while a sandbox has not said it yet. */
function hubUrl({ settings }: Services, hub: Hub, service: Service): string | undefined {
  const { name, namespace } = hub.metadata;
  if (settings.hubUrlAnnotation) return service.metadata.annotations?.[settings.hubUrlAnnotation];
  const port = service.spec?.ports?.find((each) => each.name === SERVICE_PORT)?.port;
  return port === undefined ? undefined : `http://${objectNames(name).workload}.${namespace}.svc:${port}`;
}
