import type { BackupAgent, BackupConfig } from '../../client/connection/backup-types';
import type { Hub, HubIntegration, HubSpec } from '../../kinds';
import type { Services } from '../services';

export type BackupSpec = NonNullable<HubSpec['backup']>;

/** Ids of backup agents, or a sentence that says which one is missing. */
type Agents = { readonly ids: readonly string[] } | { readonly missing: string };

/** Ids of the agent for the hub's own volume: on a hub in a container, and on one with the Supervisor. */
const CONTAINER_AGENT = 'backup.local';
const LOCAL_AGENTS = [CONTAINER_AGENT, 'hassio.local'];

/**
 * Reports whether the hub runs in a container, without the Supervisor: only such a hub has the agent
 * `backup.local`.
 */
export const isInContainer = (present: readonly string[]): boolean => present.includes(CONTAINER_AGENT);

/**
 * The backup agents to set. The hub also accepts agents that do not exist, and then each backup fails, so
 * they are refused here. Agents that were chosen in the hub stay as long as one of them exists, since the
 * integration of another may be loaded later. Agents of the Supervisor are dropped in a container: they come
 * from restored settings of another installation and never become available.
 *
 * @param ofIntegrations the agents of the integrations in `spec.backup.agents`
 * @param present ids of the agents that the hub has
 */
export function chooseAgents(
  { agentIDs, recurrence }: BackupSpec,
  { create_backup: { agent_ids: chosen } }: BackupConfig,
  present: readonly string[],
  ofIntegrations: readonly string[] = [],
): Agents {
  const has = `The hub has ${present.join(', ') || 'none'}`;
  const unknown = agentIDs?.filter((id) => !present.includes(id)) ?? [];
  if (unknown.length > 0)
    return {
      missing: `agentIDs: the hub has no backup agent ${unknown.join(', ')}. ${has}: name one of these, or add the integration that provides it.`,
    };
  const named = [...new Set([...(agentIDs ?? []), ...ofIntegrations])];
  if (named.length > 0) return { ids: named };
  if (recurrence === 'never') return { ids: chosen };
  const kept = chosen.filter((id) => !(isInContainer(present) && id.startsWith('hassio.')));
  if (kept.some((id) => present.includes(id))) return { ids: kept };
  if (kept.length > 0)
    return {
      missing: `The hub has chosen the backup agent ${kept.join(', ')}, which is not there, so each backup would fail. ${has}: name one of these in agentIDs, or set up the integration that provides the other.`,
    };
  const local = LOCAL_AGENTS.find((id) => present.includes(id));
  return local
    ? { ids: [local] }
    : { missing: `The hub has no backup agent for its own volume. ${has}: name one of these in agentIDs.` };
}

/**
 * The backup agents that the integrations in `spec.backup.agents` provide. The id of most agents contains the
 * id of the config entry, as in `aws_s3.<entry>`. Others, such as Google Drive and Synology, use the id of
 * the account or device instead, and the title of the entry as their name.
 */
export function agentsOfIntegrations(
  { agents = [] }: BackupSpec,
  { metadata: { namespace, name: hub } }: Hub,
  cache: Pick<Services['cache'], 'get'>,
  present: readonly BackupAgent[],
): Agents {
  const ids: string[] = [];
  for (const { integrationRef } of agents) {
    const { name } = integrationRef;
    const integration = cache.get<HubIntegration>('HubIntegration', namespace, name);
    const found = integration
      ? agentOf(integration, hub, present)
      : { missing: 'does not exist: create it, or correct the name.' };
    if (typeof found !== 'string') return { missing: `agents: The HubIntegration ${name} ${found.missing}` };
    ids.push(found);
  }
  return { ids };
}

function agentOf(
  { spec, status: { entryID, title } = {} }: HubIntegration,
  hub: string,
  present: readonly BackupAgent[],
): string | { readonly missing: string } {
  if (spec.hubRef.name !== hub)
    return { missing: `belongs to the Hub ${spec.hubRef.name}: name one of the Hub ${hub}.` };
  if (entryID === undefined) return { missing: 'has no entry in the hub yet: its condition Ready says why.' };
  const ofDomain = present.filter(({ agent_id: id }) => id.startsWith(`${spec.domain}.`));
  const ofEntry = ofDomain.find(({ agent_id: id }) => id === `${spec.domain}.${entryID}`);
  const named = ofDomain.filter(({ name }) => name === title);
  const agent = ofEntry ?? (named.length === 1 ? named[0] : undefined);
  if (agent) return agent.agent_id;
  const choice = present.map(({ agent_id: id }) => id).join(', ') || 'none';
  return {
    missing:
      named.length > 1
        ? `has the title ${title}, as other entries of ${spec.domain} have: give it a title of its own.`
        : `provides no backup agent that the hub knows. It has ${choice}. An integration provides its agent while it is loaded: see entryState in its status.`,
  };
}
