import type { BlueprintDomain } from '../../operator/client/connection/config-entity';
import { HubRejected } from '../../operator/client/connection/errors';
import type { HubClient } from '../../operator/client/hub-client';
import { CHECK_FOLDER } from '../../operator/kinds/blueprint-path';
import type { NotExpressed } from './config-entities';

const DOMAINS: readonly BlueprintDomain[] = ['automation', 'script', 'template'];

/** Folders with blueprints of the hub itself, and with copies that the operator makes for a moment. */
const NOT_OF_USERS: readonly string[] = ['homeassistant', CHECK_FOLDER];

/** Lists the blueprints of a hub with the reason why an export lacks them. @throws HubError */
export async function readBlueprints({ blueprints }: HubClient): Promise<readonly NotExpressed[]> {
  const found: NotExpressed[] = [];
  for (const domain of DOMAINS)
    for (const [path, { metadata }] of await listOf(blueprints, domain)) {
      if (NOT_OF_USERS.includes(path.split('/', 1)[0]!)) continue;
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
