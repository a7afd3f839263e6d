import type { Hub, HubSpec } from '../../../kinds/index';
import { objectNames } from '../../../kinds/object-names';
import { DEPENDENCY_REQUEUE } from '../../../limits';
import type { Manifest } from '../../../runtime/apply';
import type { Discovery } from '../../../runtime/discovery';
import type { ConditionValue } from '../../../runtime/outcome';
import { optional } from '../../../runtime/types';
import type { Services } from '../../services';
import type { WorkloadStep } from '../continue-on-failure';
import { selectorOf } from '../owned-objects';
import { requeueAfter } from '../steps';
import { ensureOptionalObject } from './ensure-object';
import { lastKnownExposure } from './trusted-proxies';

/**
 * Ensures the HTTPRoute of `spec.gateway`, and that there is none without it. Leaves the condition `Exposed`, which the
 * trusted proxies complete once the hub has answered; without the Gateway API it says that this API is missing.
 */
export function ensureHttpRoute(services: Pick<Services, 'applier'>, discovery: Discovery): WorkloadStep {
  return {
    name: 'HTTPRoute',
    async run(context) {
      const { hub, spec, conditions } = context;
      const desired = spec.gateway?.enabled ? httpRouteOf(hub, spec) : undefined;
      const installed = await ensureOptionalObject(services, discovery, hub, optional.HTTPRoute, desired);
      const missing = desired !== undefined && !installed;
      if (missing) requeueAfter(context, DEPENDENCY_REQUEUE);
      conditions['Exposed'] = missing ? gatewayApiMissing : lastKnownExposure(hub, spec);
      return {};
    },
    present: () => ({}),
  };
}

/** The route from the Gateways in `spec.gateway.parentRefs` to the Service of the hub. */
function httpRouteOf(hub: Hub, { gateway, service }: HubSpec): Manifest {
  const { name, namespace } = hub.metadata;
  const { parentRefs, hostnames, filters } = gateway ?? {};
  return {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'HTTPRoute',
    metadata: { name: objectNames(name).workload, namespace, labels: selectorOf(hub) },
    spec: {
      parentRefs,
      ...(hostnames && { hostnames }),
      rules: [
        {
          ...(filters && { filters }),
          backendRefs: [{ name: objectNames(name).workload, port: service.port }],
        },
      ],
    },
  };
}

const gatewayApiMissing: ConditionValue = {
  status: 'False',
  reason: 'GatewayApiNotInstalled',
  message:
    'spec.gateway needs the Gateway API, whose definitions are not installed: install them, and the HTTPRoute is created.',
};
