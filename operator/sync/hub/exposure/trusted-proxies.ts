import { HubError } from '../../../client/connection/errors';
import { getReverseProxySettings, refusedProxy } from '../../../client/setup/http-settings';
import { readLog } from '../../../client/setup/log-records';
import type { HubSpec } from '../../../kinds/index';
import { objectNames } from '../../../kinds/object-names';
import { DEPENDENCY_REQUEUE } from '../../../base/limits';
import { condition, type ConditionValue, type Outcome } from '../../../runtime/outcome';
import { conditionOf } from '../../../runtime/conditions';
import { type Authenticated, type HubContext, type HubStep, requeueAfter } from '../steps';

/**
 * Completes the condition `Exposed`: asks the hub whether it trusts proxies, since it refuses every forwarded request
 * otherwise. It is only reported; the `http:` section of HubConfiguration sets it.
 */
export const checkTrustedProxies: HubStep<HubContext & Authenticated> = {
  name: 'trusted proxies',
  async run(context) {
    const { client, conditions } = context;
    const { reason } = conditions['Exposed'] ?? {};
    // Any other reason is that of an Ingress or HTTPRoute that does not lead to the hub.
    if (reason !== 'Exposed' && reason !== PROXIES_MISSING) return {};
    try {
      const forwarding = await getReverseProxySettings(client.connection);
      // A hub older than 2026.8 cannot say it and is assumed to trust them.
      const trusts = !forwarding || (forwarding.enabled && forwarding.trustedProxies.length > 0);
      conditions['Exposed'] = trusts
        ? exposed(context, forwarding ? TRUSTS : IS_ASSUMED)
        : proxiesMissing(refusedProxy(await readLog(client)));
    } catch (error) {
      if (!(error instanceof HubError)) throw error;
      context.reconcile.log.debug({ error }, 'failed to read trusted proxies of hub');
    }
    if (conditions['Exposed']?.status !== 'True') requeueAfter(context, DEPENDENCY_REQUEUE);
    return {};
  },
};

/** The condition until the hub is asked: its last answer. Null: the spec has no proxy. */
export function lastKnownExposure(context: HubContext): ConditionValue | null {
  const { hub, spec } = context;
  if (!isExposed(spec)) return null;
  const { status, reason, message: said = '' } = conditionOf(hub, 'Exposed') ?? {};
  if (status === 'True') return exposed(context, said.endsWith(IS_ASSUMED) ? IS_ASSUMED : TRUSTS);
  return reason === PROXIES_MISSING
    ? condition('False', reason, said)
    : condition('Unknown', 'Exposed', 'The hub has not been asked yet whether it trusts its proxies.');
}

/** Whether the spec has a way to the hub for others than the operator, whose state is the condition `Exposed`. */
export const isExposed = ({ ingress, gateway }: HubSpec): boolean =>
  Boolean(ingress?.enabled || gateway?.enabled);

/** The condition of a hub whose Service, Ingress or HTTPRoute could not be written. */
export function notExposed({ reason, message }: Outcome): ConditionValue {
  return { status: reason === 'ApiServerError' ? 'Unknown' : 'False', reason, message };
}

/** Whether the hub trusts its proxies, as it has said. */
const TRUSTS = 'The hub trusts its proxies.';
const IS_ASSUMED = 'A hub older than 2026.8 does not say whether it trusts its proxies.';

/**
 * An Ingress has no condition that says that a controller serves it, and some controllers report no address. A missing
 * IngressClass would prove nothing either, since some controllers go by its name alone.
 */
function exposed({ hub, spec, ingressAddress }: HubContext, trust: string): ConditionValue {
  const { ingress, gateway } = spec;
  const name = objectNames(hub.metadata.name).workload;
  const address = ingressAddress
    ? `, at ${ingressAddress}`
    : '; no ingress controller has reported an address of it, as some never do';
  const ways = [
    ...(ingress?.enabled ? [`The Ingress ${name} for ${ingress.host} is written${address}.`] : []),
    ...(gateway?.enabled
      ? [
          `The HTTPRoute ${name} for ${gateway.hostnames?.join(', ') ?? 'all hosts of its Gateways'} is accepted.`,
        ]
      : []),
  ];
  return { status: 'True', reason: 'Exposed', message: [...ways, trust].join(' ') };
}

const PROXIES_MISSING = 'TrustedProxiesMissing';

/** @param refused the address that the hub has logged, which is the value to write if it is that of the proxy */
function proxiesMissing(refused: string | undefined): ConditionValue {
  const message =
    refused === undefined
      ? 'The hub refuses requests that come through a proxy: set use_x_forwarded_for and trusted_proxies in the http section ' +
        'of its HubConfiguration, to the addresses of the ingress controller or Gateway.'
      : `The hub has refused a request that came through the proxy ${refused}. If that is the ingress controller or Gateway, write ` +
        `into the HubConfiguration: http: { use_x_forwarded_for: true, trusted_proxies: [${refused}] }`;
  return { status: 'False', reason: PROXIES_MISSING, message };
}
