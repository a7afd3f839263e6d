import { HTTP_BY_API, isLower } from '../../../base/hub-version';
import type { HubClient } from '../../../client/hub-client';
import { listServices } from '../../../client/services';
import { readLog } from '../../../client/setup/log-records';
import type { Redact } from '../../../client/connection/redact';
import { sectionOf, type Sections } from '../generate/sections';
import type { UsableHub } from '../record/observe';

type SetUpOfHub = Pick<HubClient, 'components' | 'repairIssues'>;

export async function readCapabilities({ client, hub }: UsableHub, loaded: Sections) {
  const domains = [...(await listServices(client.connection))];
  const version = hub.status?.version;
  return {
    services: new Set(domains.flatMap(([domain, names]) => [...names].map((name) => `${domain}.${name}`))),
    httpByApi: version === undefined || !isLower(version, HTTP_BY_API),
    notSetUp: new Set(await partsNotSetUp(client, loaded)),
  };
}

/** The sections and platforms that a hub has not set up. */
async function partsNotSetUp(client: SetUpOfHub, sections: Sections): Promise<string[]> {
  const domains = [...new Set([...sections.keys()].map(sectionOf))].sort();
  const missing: string[] = [];
  for (const domain of domains) if (!(await client.components.isLoaded(domain))) missing.push(domain);
  const platforms = [...sections.keys()].filter((part) => part !== sectionOf(part)).sort();
  return [...missing, ...(await client.repairIssues.unsupportedPlatforms(platforms))];
}

/**
 * The sections and platforms that a hub has not set up, with the errors that it logged about them.
 *
 * @returns undefined when the hub has set up all
 */
export async function notSetUp(
  client: SetUpOfHub & Pick<HubClient, 'connection'>,
  sections: Sections,
  redact: Redact,
) {
  const missing = await partsNotSetUp(client, sections);
  if (missing.length === 0) return undefined;
  const logged = (await readLog(client)).filter(({ level }) => level === 'ERROR' || level === 'CRITICAL');
  const words = missing.flatMap((domain) =>
    logged
      .filter(({ name, message }) => isAbout(domain, name, message))
      .reverse()
      .flatMap(({ message }) => message.slice(-1)),
  );
  return { sections: missing, words: redact([...new Set(words)].join('\n')) };
}

/**
 * Reports whether a logged error is about a part: it comes from the integration, from its set-up, or is about
 * its platform in another section, such as `sensor.template`.
 */
function isAbout(part: string, logger: string, message: readonly string[]): boolean {
  const [domain, platform] = part.split('.') as [string, string?];
  if (platform !== undefined)
    return [domain, platform].every((word) => message.some((text) => text.includes(` ${word} `)));
  const own = `homeassistant.components.${domain}`;
  if (logger === own || logger.startsWith(`${own}.`)) return true;
  if (logger.startsWith(`custom_components.${domain}`)) return true;
  const isSetUp = logger === 'homeassistant.setup' || logger === 'homeassistant.bootstrap';
  return isSetUp && message.some((text) => text.includes(`'${domain}'`) || text.includes(` ${domain}:`));
}
