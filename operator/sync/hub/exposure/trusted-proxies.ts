import { HubError } from '../../../client/errors';
import { getReverseProxySettings } from '../../../client/http-settings';
import type { Hub, HubSpec } from '../../../kinds/index';
import { objectNames } from '../../../kinds/object-names';
import { DEPENDENCY_REQUEUE } from '../../../limits';
import type { ConditionValue } from '../../../runtime/outcome';
import { conditionOf } from '../../../runtime/conditions';
import { type HubStep, requeueAfter } from '../steps';

/**
 * Asks a hub that is well whether it lets its proxies through: it refuses every forwarded request otherwise. That is
 * only reported; the `http:` section of HubConfiguration writes it.
 */
export const trustedProxiesStep: HubStep = {
  name: 'trusted proxies',
  async run(context) {
    const { hub, spec, client, conditions } = context;
    if (!client || !conditions['Exposed'] || conditions['Exposed'].reason === 'GatewayApiNotInstalled')
      return undefined;
    try {
      const forwarding = await getReverseProxySettings(client.connection);
      // One older than 2026.8 cannot say it, and is believed.
      const trusts = !forwarding || (forwarding.enabled && forwarding.trustedProxies.length > 0);
      conditions['Exposed'] = trusts ? reached(hub, spec) : proxiesMissing;
    } catch (error) {
      if (!(error instanceof HubError)) throw error;
      context.reconcile.log.debug({ error }, 'the hub did not say whom it trusts');
    }
    if (conditions['Exposed']?.status !== 'True') requeueAfter(context, DEPENDENCY_REQUEUE);
    return undefined;
  },
};

/** What is known before the hub is asked: what it said when it was asked last. Null: no proxy is asked for. */
export function exposedAsBefore(hub: Hub, spec: HubSpec): ConditionValue | null {
  if (!spec.ingress?.enabled && !spec.gateway?.enabled) return null;
  const { status, reason } = conditionOf(hub, 'Exposed') ?? {};
  if (status === 'True') return reached(hub, spec);
  const message = 'Whether the hub accepts requests of its proxies is not known yet.';
  return reason === proxiesMissing.reason
    ? proxiesMissing
    : { status: 'Unknown', reason: 'Exposed', message };
}

function reached(hub: Hub, { ingress, gateway }: HubSpec): ConditionValue {
  const name = objectNames(hub.metadata.name).workload;
  const ways = [
    ...(ingress?.enabled ? [`through the Ingress ${name} as ${ingress.host}`] : []),
    ...(gateway?.enabled
      ? [`through the HTTPRoute ${name} as ${gateway.hostnames?.join(', ') ?? 'its Gateways say'}`]
      : []),
  ];
  return { status: 'True', reason: 'Exposed', message: `The hub is reached ${ways.join(' and ')}.` };
}

const proxiesMissing: ConditionValue = {
  status: 'False',
  reason: 'TrustedProxiesMissing',
  message:
    'The hub refuses requests that come through a proxy: set use_x_forwarded_for and trusted_proxies in the http section ' +
    'of its HubConfiguration, to the addresses of the ingress controller or Gateway.',
};
