import type { Hub, HubSpec } from '../../../kinds/index';
import { objectNames } from '../../../kinds/object-names';
import { builtin } from '../../../runtime/types';
import type { Services } from '../../services';
import type { WorkloadStep } from '../continue-on-failure';
import { HUB_PORT, selectorOf, type Service, SERVICE_PORT } from '../../hub-workload/owned-objects';
import type { HubContext, WithAddress } from '../steps';
import { isExposed, notExposed } from './trusted-proxies';

/**
 * Ensures the Service in front of the hub. Leaves `status.url`, the address under which the operator reaches the hub, and
 * in the condition `Exposed` why there is no Service.
 */
export function ensureService(
  services: Pick<Services, 'applier' | 'settings' | 'cache'>,
): WorkloadStep<HubContext, WithAddress> {
  function located({ hub, status }: HubContext, service: Service | undefined): WithAddress {
    const url = service && urlOf(services, hub, service);
    status['url'] = url ?? null;
    return { url };
  }

  return {
    name: 'Service',
    async run(context) {
      return located(context, await applyService(services, context.hub, context.spec));
    },
    present(context, failure) {
      const { namespace, name } = context.hub.metadata;
      const service = services.cache.get<Service>(
        builtin.Service.kind,
        namespace,
        objectNames(name).workload,
      );
      if (service && services.applier.isOurs(service, context.hub)) return located(context, service);
      const { conditions, spec } = context;
      // Ingress and HTTPRoute name this Service.
      if (isExposed(spec)) conditions['Exposed'] = notExposed(failure);
      return located(context, undefined);
    },
  };
}

/** Answers with the Service as the API server has it: a sandbox annotates it with the address of the hub. */
function applyService(
  { applier }: Pick<Services, 'applier'>,
  hub: Hub,
  { service }: HubSpec,
): Promise<Service> {
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

/** Where the operator reaches the hub; undefined until a sandbox has annotated the Service. */
function urlOf({ settings }: Pick<Services, 'settings'>, hub: Hub, service: Service): string | undefined {
  const { name, namespace } = hub.metadata;
  if (settings.hubUrlAnnotation) return service.metadata.annotations?.[settings.hubUrlAnnotation];
  const port = service.spec?.ports?.find((each) => each.name === SERVICE_PORT)?.port;
  return port === undefined ? undefined : `http://${objectNames(name).workload}.${namespace}.svc:${port}`;
}
