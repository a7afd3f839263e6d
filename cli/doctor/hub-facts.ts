import { truncate } from '../../operator/base/truncate';
import type { CoreConfig, RepairIssue } from '../../operator/client/connection/api-types';
import { templateText } from '../../operator/client/connection/answers';
import { isUnknownCommand } from '../../operator/client/connection/errors';
import type { HubClient } from '../../operator/client/hub-client';
import { listComponents } from '../../operator/client/services';
import { lastBannedAddress } from '../../operator/client/setup/ban-notice';
import { getConfig } from '../../operator/client/setup/core';
import { getReverseProxySettings, refusedProxy } from '../../operator/client/setup/http-settings';
import { findLog } from '../../operator/client/setup/log-records';
import { currentUser } from '../../operator/client/setup/tokens';
import type { LabelledEntity } from '../../operator/client/registries/entity-registry';
import { createdByOperator } from '../../operator/sync/config-entities/ownership-label';
import { oneLine } from '../output';

/** Replaces a fact that the hub was not asked for or did not tell. The reason is a sentence. */
export interface NotKnown {
  readonly notKnown: string;
}

/** The facts about a hub that doctor judges. */
export interface HubFacts {
  readonly core: Pick<CoreConfig, 'version' | 'state' | 'recovery_mode' | 'safe_mode'>;
  readonly isAdmin: boolean;
  /** Milliseconds since the epoch, by the hub's clock. */
  readonly time: number | NotKnown;
  readonly inner: InnerFacts | NotKnown;
}

/** The facts that a hub shows only to administrators, after it has loaded all components. */
export interface InnerFacts {
  readonly components: readonly string[];
  /** Undefined if the hub has not loaded the integration `repairs`. */
  readonly issues: readonly RepairIssue[] | undefined;
  /**
   * An address that the hub has banned since its start; undefined if there is none, or its notification was
   * dismissed.
   */
  readonly bannedAddress?: string | undefined;
  /** Undefined for a hub older than 2026.8, which does not tell. */
  readonly trustsProxies?: boolean | undefined;
  /** The proxy whose request the hub refused last, according to its log. */
  readonly refusedProxy?: string | NotKnown | undefined;
  /** Objects with the label that the operator sets on those that it has created. */
  readonly created: readonly LabelledEntity[];
}

/**
 * For users who are not administrators: the hub counts a request that only administrators may send as a
 * failed login, which may lead to a ban.
 */
const NO_ADMINISTRATOR: NotKnown = { notKnown: 'Not asked: the hub tells it to administrators alone.' };
const RECOVERY_MODE: NotKnown = { notKnown: 'Not asked: the hub has not loaded it in recovery mode.' };
const NO_LOG: NotKnown = {
  notKnown: 'The hub does not show its log, where it names a proxy that it refuses.',
};

/** @throws HubError */
export async function readFacts(client: HubClient): Promise<HubFacts> {
  const { connection, rest } = client;
  const core = await getConfig(rest);
  const { is_admin: isAdmin } = await currentUser(connection);
  if (!isAdmin) return { core, isAdmin, time: NO_ADMINISTRATOR, inner: NO_ADMINISTRATOR };
  const [time, inner] = await Promise.all([
    timeOf(client),
    core.recovery_mode ? RECOVERY_MODE : readInner(client),
  ]);
  return { core, isAdmin, time, inner };
}

async function readInner(client: HubClient): Promise<InnerFacts> {
  const { connection, rest } = client;
  const [components, issues, bannedAddress, proxies, log, created] = await Promise.all([
    listComponents(rest),
    connection.command('repairs/list_issues').then(
      (answer) => answer.issues,
      (error: unknown) => {
        if (isUnknownCommand(error)) return undefined;
        throw error;
      },
    ),
    lastBannedAddress(connection),
    getReverseProxySettings(connection),
    findLog(client),
    createdByOperator(client),
  ]);
  return {
    components,
    issues: issues?.filter(({ ignored }) => !ignored),
    bannedAddress,
    trustsProxies: proxies && proxies.enabled && proxies.trustedProxies.length > 0,
    refusedProxy: log ? refusedProxy(log) : NO_LOG,
    created,
  };
}

async function timeOf({ rest }: HubClient): Promise<number | NotKnown> {
  const template = '{{ now().timestamp() }}';
  const answer = await rest.post('/api/template', { template }, { answer: templateText });
  const time = Number(answer.trim() || NaN) * 1_000; // an empty text would become 0 otherwise
  if (Number.isFinite(time)) return time;
  return { notKnown: `The hub answers its time with “${rest.redact(truncate(oneLine(answer), 80))}”.` };
}
