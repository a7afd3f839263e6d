import type { Hub, HubSpec } from '../../../kinds/index';
import type { Condition } from '../../../kinds/condition';
import { objectNames } from '../../../kinds/object-names';
import { DEPENDENCY_REQUEUE } from '../../../base/limits';
import type { Manifest } from '../../../runtime/apply';
import type { Discovery } from '../../../runtime/discovery';
import type { ClusterObject } from '../../../runtime/objects';
import { condition, type ConditionValue } from '../../../runtime/outcome';
import { optional } from '../../../runtime/types';
import type { Services } from '../../services';
import { requeueAfter, type WorkloadStep } from '../steps';
import { workloadManifest } from '../../hub-pod/owned-objects';
import { ensureOptionalObject } from './ensure-object';
import { lastKnownExposure, notExposed } from './trusted-proxies';

/**
 * A reference to a Gateway or to one of its listeners. An absent field has the default of the Gateway API.
 */
interface ParentRef {
  readonly group?: string;
  readonly kind?: string;
  readonly namespace?: string;
  readonly name: string;
  readonly sectionName?: string;
  readonly port?: number;
}

/** An HTTPRoute with the answers of its Gateways. */
interface HttpRoute extends ClusterObject {
  readonly status?: {
    readonly parents?: readonly {
      readonly parentRef: ParentRef;
      readonly conditions?: readonly Condition[];
    }[];
  };
}

/**
 * Ensures the HTTPRoute of `spec.gateway`, or removes it if no gateway is enabled. Sets the condition
 * `Exposed` to the first fault of Service, Ingress, certificate or route: also that the Gateway API is
 * missing, or that a Gateway does not accept the route. Without a fault the condition is completed after the
 * hub has said whether it trusts proxies.
 */
export function ensureHttpRoute(services: Pick<Services, 'applier'>, discovery: Discovery): WorkloadStep {
  return {
    name: 'HTTPRoute',
    async run(context) {
      const { hub, spec, conditions } = context;
      const desired = spec.gateway?.enabled ? httpRouteOf(hub, spec) : undefined;
      const type = optional.HTTPRoute;
      const route = await ensureOptionalObject<HttpRoute>(services, discovery, hub, type, desired);
      const missing = desired !== undefined && !route.isServed ? gatewayApiMissing : undefined;
      const problem = missing ?? (route.object && notAccepted(route.object, desired!));
      // The HTTPRoute is not watched, so its state is polled.
      if (problem) requeueAfter(context, DEPENDENCY_REQUEUE);
      conditions['Exposed'] ??= problem ?? lastKnownExposure(context);
      return {};
    },
    present(context, failure) {
      const { spec, conditions } = context;
      conditions['Exposed'] ??= spec.gateway?.enabled ? notExposed(failure) : lastKnownExposure(context);
      return {};
    },
  };
}

/**
 * The condition for a route that a Gateway rejects or has not accepted yet.
 *
 * @returns undefined when each Gateway has accepted the present route
 */
function notAccepted({ metadata, status }: HttpRoute, { spec }: Manifest): ConditionValue | undefined {
  const { name, namespace, generation } = metadata;
  const { parentRefs = [] } = spec as { readonly parentRefs?: readonly ParentRef[] };
  const identity = (parent: ParentRef) => identityOf(parent, namespace);
  const asked = new Set(parentRefs.map(identity));
  const answers = (status?.parents ?? []).filter(({ parentRef }) => asked.has(identity(parentRef)));
  const parents = answers.map(({ parentRef, conditions = [] }) => ({
    gateway: parentRef.name,
    identity: identity(parentRef),
    // Some controllers omit the observed generation.
    conditions: conditions.filter(({ observedGeneration = generation }) => observedGeneration === generation),
  }));
  for (const { gateway, conditions } of parents) {
    const refusal = conditions.find(
      ({ type, status: value }) => ['Accepted', 'ResolvedRefs'].includes(type) && value === 'False',
    );
    if (!refusal) continue;
    const words = `${refusal.reason}${refusal.message ? `: ${refusal.message}` : ''}`;
    const message = `The Gateway ${gateway} does not accept the HTTPRoute ${name} (${words}): correct spec.gateway or the Gateway.`;
    return condition('False', 'RouteNotAccepted', message);
  }
  // Several controllers may report on one Gateway.
  const accepted = parents.filter(({ conditions }) =>
    conditions.some(({ type, status: value }) => type === 'Accepted' && value === 'True'),
  );
  const open = parentRefs.filter((parent) => !accepted.some((each) => each.identity === identity(parent)));
  if (open.length === 0) return undefined;
  const gateways = open.map((parent) =>
    [parent.name, parent.sectionName ?? parent.port].filter(Boolean).join('/'),
  );
  const message = `Waiting for the Gateway ${gateways.join(', ')} of spec.gateway.parentRefs to accept the HTTPRoute ${name}.`;
  return condition('Unknown', 'RouteNotAccepted', message);
}

/** @param ownNamespace namespace of the route */
function identityOf(parent: ParentRef, ownNamespace: string | undefined): string {
  const { group = optional.HTTPRoute.group, kind = 'Gateway', namespace = ownNamespace } = parent;
  const { name, sectionName = null, port = null } = parent;
  return JSON.stringify([group, kind, namespace, name, sectionName, port]);
}

/** The route from the Gateways in `spec.gateway.parentRefs` to the Service of the hub. */
function httpRouteOf(hub: Hub, { gateway, service }: HubSpec): Manifest {
  const { parentRefs, hostnames, filters } = gateway ?? {};
  const backendRefs = [{ name: objectNames(hub.metadata.name).workload, port: service.port }];
  const rules = [{ filters, backendRefs }];
  return workloadManifest(optional.HTTPRoute, hub, { parentRefs, hostnames, rules });
}

const gatewayApiMissing = condition(
  'False',
  'GatewayApiNotInstalled',
  'spec.gateway needs the Gateway API, whose definitions are not installed: install them, and the HTTPRoute is created.',
);
