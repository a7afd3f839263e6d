import type { Hub, HubSpec } from '../../../kinds/index';
import { objectNames, selectorOf } from '../../../kinds/object-names';
import { ObjectRejected } from '../../../runtime/apply-errors';
import { builtin } from '../../../runtime/types';
import type { Services } from '../../services';
import type { HubContext, WithAddress, WorkloadStep } from '../steps';
import { HUB_PORT, type Service, SERVICE_PORT, workloadManifest } from '../../hub-pod/owned-objects';
import { isExposed, notExposed } from './trusted-proxies';

/**
 * Ensures the Service in front of the hub. Sets `status.url` to the address at which the operator reaches the
 * hub. If there is no Service, the condition `Exposed` says why.
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
      // Ingress and HTTPRoute refer to this Service.
      if (isExposed(spec)) conditions['Exposed'] = notExposed(failure);
      return located(context, undefined);
    },
  };
}

/**
 * Applies the Service and returns it as stored by the API server, since a sandbox annotates it with the
 * address of the hub.
 */
async function applyService(
  { applier }: Pick<Services, 'applier'>,
  hub: Hub,
  { service }: HubSpec,
): Promise<Service> {
  const { type, port, nodePort, annotations } = service;
  const spec = {
    type,
    selector: selectorOf(hub),
    ports: [{ name: SERVICE_PORT, port, targetPort: HUB_PORT, protocol: 'TCP', nodePort }],
    loadBalancerClass: service.loadBalancerClass,
    loadBalancerSourceRanges: service.loadBalancerSourceRanges,
    externalTrafficPolicy: service.externalTrafficPolicy,
  };
  const manifest = workloadManifest(builtin.Service, hub, spec, annotations);
  try {
    return await applier.apply(builtin.Service, manifest, { owner: hub });
  } catch (error) {
    if (error instanceof ObjectRejected && CLASS_IS_FINAL.test(error.message))
      throw new ObjectRejected(classIsFinal(hub), { cause: error });
    throw error;
  }
}

/** The error message of the API server. */
const CLASS_IS_FINAL = /spec\.loadBalancerClass: .*may not change once set/;

function classIsFinal({ metadata: { name, namespace } }: Hub): string {
  const { workload } = objectNames(name);
  return (
    `spec.service.loadBalancerClass cannot change while the Service ${workload} is a LoadBalancer: set it back, or delete the Service ` +
    `(kubectl -n ${namespace} delete service ${workload}), which is then made again with the new class and may get another address.`
  );
}

/**
 * The URL at which the operator reaches the hub. In a sandbox it is undefined until the Service is annotated
 * with it.
 */
function urlOf({ settings }: Pick<Services, 'settings'>, hub: Hub, service: Service): string | undefined {
  const { name, namespace } = hub.metadata;
  if (settings.hubUrlAnnotation) return service.metadata.annotations?.[settings.hubUrlAnnotation];
  const port = service.spec?.ports?.find((each) => each.name === SERVICE_PORT)?.port;
  return port === undefined ? undefined : `http://${objectNames(name).workload}.${namespace}.svc:${port}`;
}
