import type { BlueprintDomain } from '../../operator/client/connection/config-entity';
import { HubRejected } from '../../operator/client/connection/errors';
import type { HubClient } from '../../operator/client/hub-client';
import { blueprint, type HubBlueprint } from '../../operator/kinds';
import { CHECK_FOLDER } from '../../operator/kinds/blueprint-path';
import { ApiError } from '../../operator/runtime/api-errors';
import { type Cluster, resourceType } from '../cluster';
import type { NotExpressed } from './config-entities';

const DOMAINS: readonly BlueprintDomain[] = ['automation', 'script', 'template'];

/** Folders with blueprints of the hub itself, and with copies that the operator makes for a moment. */
const NOT_OF_USERS: readonly string[] = ['homeassistant', CHECK_FOLDER];

/**
 * Returns the blueprints that HubBlueprints in the cluster already describe, as `<domain>/<path>`. For a user who
 * may not list HubBlueprints there are none.
 */
export async function blueprintsInCluster(
  cluster: Pick<Cluster, 'list'>,
  hub: string,
): Promise<ReadonlySet<string>> {
  try {
    const all = await cluster.list<HubBlueprint>(resourceType(blueprint));
    const ofHub = all.filter(({ spec }) => spec.hubRef.name === hub);
    return new Set(ofHub.map(({ spec: { domain, path } }) => `${domain}/${path}`));
  } catch (error) {
    if (error instanceof ApiError && error.status === 403) return new Set();
    throw error;
  }
}

/**
 * Lists the blueprints of a hub with the reason why an export lacks them.
 *
 * @param described blueprints that need no file, as `<domain>/<path>`
 * @throws HubError
 */
export async function readBlueprints(
  { blueprints }: HubClient,
  described: ReadonlySet<string>,
): Promise<readonly NotExpressed[]> {
  const found: NotExpressed[] = [];
  for (const domain of DOMAINS)
    for (const [path, { metadata }] of await listOf(blueprints, domain)) {
      if (NOT_OF_USERS.includes(path.split('/', 1)[0]!) || described.has(`${domain}/${path}`)) continue;
      const source = metadata?.['source_url'];
      const from = typeof source === 'string' ? `, imported from ${source}` : '';
      found.push({
        object: `blueprint ${domain}/${path}${from}`,
        reason: `The hub never shows the text of a blueprint: copy /config/blueprints/${domain}/${path} into a HubBlueprint, or have kubectl hub convert read a copy of /config.`,
      });
    }
  return found.sort((a, b) => (a.object < b.object ? -1 : 1));
}

/** The blueprints of a domain; none if the hub does not list them. */
async function listOf(blueprints: HubClient['blueprints'], domain: BlueprintDomain) {
  try {
    return await blueprints.list(domain);
  } catch (error) {
    if (error instanceof HubRejected) return [];
    throw error;
  }
}
