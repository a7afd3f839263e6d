import type { Hub } from '../../../kinds/index';
import { objectNames } from '../../../kinds/object-names';
import { DEPENDENCY_REQUEUE } from '../../../limits';
import type { Manifest } from '../../../runtime/apply';
import { Discovery } from '../../../runtime/discovery';
import type { EventSpec } from '../../../runtime/events';
import type { ResourceType } from '../../../runtime/objects';
import type { ConditionValue } from '../../../runtime/outcome';
import { conditionOf } from '../../../runtime/conditions';
import { isNotFound } from '../../../runtime/api-client';
import { builtin, optional } from '../../../runtime/types';
import type { Services } from '../../services';
import { httpRouteOf } from './gateway';
import { certificateOf, tlsSourceOf, ingressOf } from './ingress';
import { networkPolicyOf } from './network-policy';
import { exposedAsBefore } from './trusted-proxies';
import { type HubStep, type HubContext, requeueAfter } from '../steps';

/**
 * How others reach the hub: Ingress with its Certificate, HTTPRoute, NetworkPolicy. What is not wanted (any more) is
 * removed if it is ours. What cert-manager or the Gateway API would be needed for is a condition while they are
 * missing, never an error ("Certificate manager wait", spec.md).
 */
export function exposureSteps(services: Services): readonly HubStep[] {
  const { applier, settings, cache } = services;
  const discovery = new Discovery(services.cluster, services.clock);

  /** Makes an object of a watched kind be there, or not be there. */
  async function ensure(hub: Hub, type: ResourceType, wanted: Manifest | undefined): Promise<void> {
    const { name, namespace } = hub.metadata;
    if (wanted) await applier.apply(type, wanted, { owner: hub });
    // One of ours is known from its watch, so that a hub without it costs no request.
    else if (cache.get(type.kind, namespace, objectNames(name).workload)) {
      await applier.remove(type, hub, objectNames(name).workload);
    }
  }

  /** The same for a kind that need not exist in the cluster; false: it does not. */
  async function ensureOptional(
    hub: Hub,
    type: ResourceType,
    wanted: Manifest | undefined,
  ): Promise<boolean> {
    if (!(await discovery.serves(type))) return false;
    try {
      if (wanted) await applier.apply(type, wanted, { owner: hub });
      else await applier.remove(type, hub, objectNames(hub.metadata.name).workload);
      return true;
    } catch (error) {
      // Uninstalled since it was asked for.
      if (isNotFound(error)) return false;
      throw error;
    }
  }

  const ingress = async (context: HubContext): Promise<undefined> => {
    const { hub, spec, conditions, events } = context;
    const wish = spec.ingress?.enabled ? spec.ingress : undefined;
    const encryption = wish ? tlsSourceOf(hub, wish) : ({ type: 'none' } as const);
    const issued = encryption.type === 'issued' ? encryption : undefined;
    const certificate = wish && issued && certificateOf(hub, wish, issued.secretName, issued.issuerRef);
    const installed = await ensureOptional(hub, optional.Certificate, certificate);
    const secretName =
      encryption.type === 'none' || (issued && !installed) ? undefined : encryption.secretName;
    await ensure(hub, builtin.Ingress, wish && ingressOf(hub, wish, secretName));
    conditions['CertManagerAvailable'] = issued
      ? installed
        ? certManagerInstalled
        : certManagerMissing
      : null;
    if (!issued || installed) return undefined;
    if (conditionOf(hub, 'CertManagerAvailable')?.status !== 'False') events.push(certManagerUnavailable);
    requeueAfter(context, DEPENDENCY_REQUEUE);
    return undefined;
  };

  const route = async (context: HubContext): Promise<undefined> => {
    const { hub, spec, conditions } = context;
    const wanted = spec.gateway?.enabled ? httpRouteOf(hub, spec) : undefined;
    const installed = await ensureOptional(hub, optional.HTTPRoute, wanted);
    const missing = wanted !== undefined && !installed;
    if (missing) requeueAfter(context, DEPENDENCY_REQUEUE);
    conditions['Exposed'] = missing ? gatewayApiMissing : exposedAsBefore(hub, spec);
    return undefined;
  };

  const policy = async ({ hub, spec }: HubContext): Promise<undefined> => {
    const wanted = spec.networkPolicy.enabled ? networkPolicyOf(hub, spec, settings.podNamespace) : undefined;
    await ensure(hub, builtin.NetworkPolicy, wanted);
    return undefined;
  };

  return [
    { name: 'Ingress', run: ingress },
    { name: 'HTTPRoute', run: route },
    { name: 'NetworkPolicy', run: policy },
  ];
}

const certManagerInstalled: ConditionValue = {
  status: 'True',
  reason: 'CertManagerInstalled',
  message: 'cert-manager is asked for the certificate: see the Certificate of the same name.',
};

const certManagerMissing: ConditionValue = {
  status: 'False',
  reason: 'CertManagerNotInstalled',
  message:
    'ingress.tls.issuerRef needs cert-manager, which is not installed: the hub is served over HTTP until it is.',
};

const certManagerUnavailable: EventSpec = {
  type: 'Warning',
  reason: 'CertManagerUnavailable',
  message: certManagerMissing.message,
};

const gatewayApiMissing: ConditionValue = {
  status: 'False',
  reason: 'GatewayApiNotInstalled',
  message:
    'gateway needs the Gateway API, whose definitions are not installed: the HTTPRoute is made as soon as they are.',
};
