import { getConfig } from '../../../client/core';
import { HubBanned, HubError, TokenRejected } from '../../../client/errors';
import { hasLocalHost } from '../../../client/local-address';
import type { HubSpec } from '../../../kinds/index';
import { DEPENDENCY_REQUEUE } from '../../../limits';
import { type Outcome, stalled, waiting } from '../../../runtime/outcome';
import type { HubClients } from '../../hub-clients';
import { hubErrorOutcome } from '../../hub-errors';
import type { Services } from '../../services';
import { resolveAccess } from './token';
import { requireAdmin, hubModeProblem } from '../health/hub-health';
import { stateFingerprint } from '../health/health-monitor';
import type { HubStep } from '../steps';

type External = NonNullable<HubSpec['external']>;

/** The one step to a hub that runs elsewhere: its token is used and never made, and nothing about it is repaired. */
export function externalStep(services: Services, hubs: HubClients): HubStep {
  return {
    name: 'external hub',
    async run(context) {
      const { hub, spec, status } = context;
      const external = spec.external!;
      const refusal = invalidUrl(external, services.settings.allowLocalHubs);
      if (refusal) return stalled('InvalidSpec', refusal, { status: { phase: 'Failed', url: null } });
      if (spec.delivery === 'File') {
        const message =
          'delivery: File needs files in the hub’s pod, and an external hub has none here: use Api.';
        return stalled('NotSupportedByExternalHub', message, { status: { phase: 'Failed' } });
      }
      context.url = new URL(external.url).origin;
      status['url'] = context.url;
      const found = await resolveAccess(services, hub, spec, context.url);
      if ('missing' in found) {
        if (spec.backup)
          context.conditions['BackupConfigured'] = {
            status: 'False',
            reason: 'TokenNotAvailable',
            message: found.missing,
          };
        return waiting('TokenNotAvailable', found.missing, DEPENDENCY_REQUEUE, {
          status: { phase: 'Pending' },
        });
      }
      const client = hubs.client(hub, found.access);
      try {
        const core = await getConfig(client.rest);
        hubs.healthMonitor.watch(hub, client, stateFingerprint(core));
        status['version'] = core.version;
        const trouble = (await hubModeProblem(services, hub, core, client)) ?? (await requireAdmin(client));
        if (trouble) return trouble;
        status['phase'] = 'Running';
        context.client = client;
        context.core = core;
        return undefined;
      } catch (error) {
        if (!(error instanceof HubError)) throw error;
        hubs.healthMonitor.watch(hub, client, stateFingerprint(error));
        return errorOutcome(error);
      }
    },
  };
}

/** Why an address is not used, whatever may be there; undefined: it may be. The schema says most of it already. */
export function invalidUrl({ url }: Pick<External, 'url'>, allowLocal: boolean): string | undefined {
  if (!URL.canParse(url)) return 'external.url: that is no address: a port goes up to 65535.';
  const parsed = new URL(url);
  if (!['http:', 'https:'].includes(parsed.protocol))
    return 'external.url: only http:// and https:// addresses are used.';
  if (parsed.username || parsed.password || url.includes('@'))
    return 'external.url: credentials do not belong there: remove them.';
  if (parsed.pathname !== '/' || parsed.search || parsed.hash)
    return 'external.url: only scheme, host and port belong there.';
  if (!allowLocal && hasLocalHost(parsed))
    return 'external.url: a loopback or link-local address leads to the operator itself, not to a hub.';
  return undefined;
}

function errorOutcome(error: HubError): Outcome {
  const wayOut =
    error instanceof TokenRejected
      ? 'store another long-lived access token of an administrator in the Secret of external.tokenSecretRef.'
      : error instanceof HubBanned
        ? 'remove the ban on that hub (ip_bans.yaml, then a restart). The operator does not restart external hubs.'
        : undefined;
  return hubErrorOutcome(error, 'state', {
    ...(wayOut && { message: `${error.message}: ${wayOut}` }),
    status: { phase: 'Unknown' },
  });
}
