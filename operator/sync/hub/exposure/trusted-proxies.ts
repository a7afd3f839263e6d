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
 * Completes the condition `Exposed`: asks the hub whether it trusts proxies, since otherwise it refuses every
 * forwarded request. The operator only reports this. Users set it in the `http:` section of HubConfiguration.
 */
export const checkTrustedProxies: HubStep<HubContext & Authenticated> = {
  name: 'trusted proxies',
  async run(context) {
    const { client, conditions } = context;
    const { reason } = conditions['Exposed'] ?? {};
    // Any other reason means that an Ingress or HTTPRoute does not lead to the hub, and stays in the
    // condition.
    if (reason !== 'Exposed' && reason !== PROXIES_MISSING) return {};
    try {
      const forwarding = await getReverseProxySettings(client.connection);
      // A hub older than 2026.8 does not report this setting. It is assumed to trust its proxies.
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

/**
 * The condition until the hub is asked again: its last answer. Null if the spec has no Ingress or Gateway.
 */
export function lastKnownExposure(context: HubContext): ConditionValue | null {
  const { hub, spec } = context;
  if (!isExposed(spec)) return null;
  const { status, reason, message: said = '' } = conditionOf(hub, 'Exposed') ?? {};
  if (status === 'True') return exposed(context, said.endsWith(IS_ASSUMED) ? IS_ASSUMED : TRUSTS);
  return reason === PROXIES_MISSING
    ? condition('False', reason, said)
    : condition('Unknown', 'Exposed', 'The hub has not been asked yet whether it trusts its proxies.');
}

/**
 * Reports whether the spec exposes the hub outside of the cluster, which the condition `Exposed` is about.
 */
export const isExposed = ({ ingress, gateway }: HubSpec): boolean =>
  Boolean(ingress?.enabled || gateway?.enabled);

/** The condition of a hub whose Service, Ingress or HTTPRoute could not be written. */
export function notExposed({ reason, message }: Outcome): ConditionValue {
  return { status: reason === 'ApiServerError' ? 'Unknown' : 'False', reason, message };
}

/** Sentences about the hub's trust in its proxies, for the condition `Exposed`. */
const TRUSTS = 'The hub trusts its proxies.';
const IS_ASSUMED = 'A hub older than 2026.8 does not say whether it trusts its proxies.';

/**
 * The condition of a hub that trusts its proxies. That a controller serves the Ingress cannot be verified. An
 * Ingress has no condition for it, some controllers report no address, and a missing IngressClass proves
 * nothing, since some controllers use only the name of the class.
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

/**
 * @param refused the proxy address that the hub refused according to its log, which the message proposes as
 * `trusted_proxies`
 */
function proxiesMissing(refused: string | undefined): ConditionValue {
  const message =
    refused === undefined
      ? 'The hub refuses requests that come through a proxy: set use_x_forwarded_for and trusted_proxies in the http section ' +
        'of its HubConfiguration, to the addresses of the ingress controller or Gateway.'
      : `The hub has refused a request that came through the proxy ${refused}. If that is the ingress controller or Gateway, write ` +
        `into the HubConfiguration: http: { use_x_forwarded_for: true, trusted_proxies: [${refused}] }`;
  return { status: 'False', reason: PROXIES_MISSING, message };
}
