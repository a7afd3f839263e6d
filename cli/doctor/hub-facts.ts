import type { CoreConfig, RepairIssue } from '../../operator/client/connection/api-types';
import { templateText } from '../../operator/client/connection/answers';
import { isUnknownCommand } from '../../operator/client/connection/errors';
import type { HubClient } from '../../operator/client/hub-client';
import { listComponents } from '../../operator/client/services';
import { lastBannedAddress } from '../../operator/client/setup/ban-notice';
import { getConfig } from '../../operator/client/setup/core';
import { getReverseProxySettings, refusedProxy } from '../../operator/client/setup/http-settings';
import { readLog } from '../../operator/client/setup/log-records';
import { currentUser } from '../../operator/client/setup/tokens';
import type { LabelledEntity } from '../../operator/client/registries/entity-registry';
import { createdByOperator } from '../../operator/sync/config-entities/ownership-label';

/** The state of a hub, as far as doctor judges it. */
export interface HubFacts {
  readonly core: Pick<CoreConfig, 'version' | 'state' | 'recovery_mode' | 'safe_mode'>;
  readonly isAdmin: boolean;
  readonly components: readonly string[];
  readonly issues: readonly RepairIssue[];
  /** An address that the hub has banned since its start. */
  readonly bannedAddress?: string | undefined;
  /** Undefined: a hub older than 2026.8 does not tell. */
  readonly trustsProxies?: boolean | undefined;
  /** The proxy whose requests the hub has refused last, by its log. */
  readonly refusedProxy?: string | undefined;
  /** Objects with the label of the operator, which it has created. */
  readonly created: readonly LabelledEntity[];
  /** Milliseconds since the epoch by the hub's clock; undefined: it tells administrators only. */
  readonly time?: number;
}

/** @throws HubError */
export async function readFacts(client: HubClient): Promise<HubFacts> {
  const { connection, rest } = client;
  const core = await getConfig(rest);
  const { is_admin: isAdmin } = await currentUser(connection);
  const shared = { core, isAdmin };
  // A request that only administrators may send counts as a failed login of others, which may end in a ban.
  if (!isAdmin) return { ...shared, ...nothing };
  // A hub in recovery mode has not loaded the rest.
  if (core.recovery_mode) return { ...shared, ...nothing, time: await timeOf(client) };
  const [components, issues, bannedAddress, proxies, log, created, time] = await Promise.all([
    listComponents(rest),
    connection.command('repairs/list_issues').then(
      (answer) => answer.issues,
      (error: unknown) => {
        if (isUnknownCommand(error)) return [];
        throw error;
      },
    ),
    lastBannedAddress(connection),
    getReverseProxySettings(connection),
    readLog(client),
    createdByOperator(client),
    timeOf(client),
  ]);
  return {
    ...shared,
    components,
    issues: issues.filter(({ ignored }) => !ignored),
    bannedAddress,
    trustsProxies: proxies && proxies.enabled && proxies.trustedProxies.length > 0,
    refusedProxy: refusedProxy(log),
    created,
    time,
  };
}

const nothing = { components: [], issues: [], created: [] };

async function timeOf({ rest }: HubClient): Promise<number> {
  const template = '{{ now().timestamp() }}';
  return Number(await rest.post('/api/template', { template }, { answer: templateText })) * 1_000;
}
