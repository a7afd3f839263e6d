import { type HubConfiguration, secrets as definition } from '../../../kinds';
import { defaulted } from '../../../kinds/schema';
import { secretsOfHub } from '../../secrets-yaml/hub-resources';
import type { ReadSecrets } from '../../secrets-yaml/secrets-yaml';
import type { Services } from '../../services';
import type { GeneratedConfiguration } from '../generate/generate';
import { publishedConfiguration } from './publish';
import type { RestartHashes } from '../generate/configuration-content';

/** The decision to restart the hub for all that differs. `autoRestart: false` leaves changed secrets to the next restart. */
export function restartForAll(
  services: Pick<Services, 'cache'>,
  resource: HubConfiguration,
  generated: GeneratedConfiguration,
  secrets: ReadSecrets | undefined,
): RestartHashes {
  const used = [...generated.sections.values()].some((section) => Object.keys(section.secrets).length > 0);
  const present = publishedConfiguration(services, resource)?.restart.secrets;
  const desired = used || present !== undefined ? secrets?.hash : undefined;
  const held = present !== undefined && !autoRestartOf(services, resource);
  return { configuration: generated.hash, secrets: held ? present : desired };
}

/** `spec.autoRestart` of the hub's HubSecrets. */
export function autoRestartOf(
  services: Pick<Services, 'cache'>,
  { metadata: { namespace }, spec: { hubRef } }: HubConfiguration,
): boolean {
  const resource = secretsOfHub(services, namespace, hubRef.name);
  return !resource || defaulted(definition.spec, resource.spec).autoRestart;
}
