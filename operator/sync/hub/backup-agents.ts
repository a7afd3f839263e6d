import type { BackupAgent, BackupConfig } from '../../client/connection/api-types';
import type { Hub, HubIntegration, HubSpec } from '../../kinds';
import type { Services } from '../services';

export type BackupSpec = NonNullable<HubSpec['backup']>;

/** Ids of destinations, or a sentence that says which one is missing. */
type Agents = { readonly ids: readonly string[] } | { readonly missing: string };

/** Ids of the hub's own volume: of a hub in a container, and of one with the Supervisor. */
const CONTAINER_AGENT = 'backup.local';
const LOCAL_AGENTS = [CONTAINER_AGENT, 'hassio.local'];

/** Whether the hub runs in a container, without the Supervisor: only such a hub has that destination. */
export const isInContainer = (present: readonly string[]): boolean => present.includes(CONTAINER_AGENT);

/**
 * The destinations to set. The hub accepts ones that do not exist, and each backup fails then: they are refused here.
 * Destinations that the hub has chosen stay while one of them is there: an integration may be loaded again. The destinations of the
 * Supervisor, which the restored settings of another installation name, never come back in a container.
 *
 * @param ofIntegrations the destinations of `agents`
 * @param present ids of the destinations that the hub has
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
 * The destinations that the integrations of `agents` provide. Most have the id of the entry in their own, as `aws_s3.<entry>`.
 * Others, such as Google Drive and Synology, have the id of the account or device there, and the title of the entry as
 * their name.
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
