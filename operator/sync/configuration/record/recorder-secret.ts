import type { HubConfiguration } from '../../../kinds';
import { objectNames } from '../../../kinds/object-names';
import { builtin } from '../../../runtime/types';
import { readGeneratedSecrets, writeGeneratedSecrets } from '../../secrets-yaml/generated-secrets';
import { secretsOfHub } from '../../secrets-yaml/hub-resources';
import { RECORDER_KEY } from '../../secrets-yaml/secrets-yaml';
import { type ConfigurationInUse, readFormerValues } from '../../secrets-yaml/values-in-use';
import type { Services } from '../../services';
import { textsOfHub } from '../generate/texts';
import { readRecord } from './record';
import { filesIn, findConfigMap } from './stored-files';

export function configurationInUse(services: Pick<Services, 'applier' | 'texts'>): ConfigurationInUse {
  return {
    async secretKeys(namespace, hub) {
      const names = objectNames(hub);
      const keys = new Set<string>();
      for (const name of [names.configuration, names.acceptedConfiguration, names.lastGoodConfiguration]) {
        const configMap = await findConfigMap(services, namespace, name);
        const uses = configMap && (await textsOfHub(services, namespace, hub).secretUses(filesIn(configMap)));
        for (const key of uses?.keys() ?? []) keys.add(key);
      }
      return keys;
    },

    async hasLoadedSecrets(namespace, hub, hash) {
      const configMap = await findConfigMap(services, namespace, objectNames(hub).acceptedConfiguration);
      const record = configMap && readRecord(configMap);
      return record?.pending.length === 0 && record.marker.secrets === hash;
    },
  };
}

/**
 * Passes the database URL of the recorder to the hub in its `secrets.yaml`, so that no ConfigMap contains it.
 * The hub's HubSecrets writes that file, or the HubConfiguration if there is no HubSecrets.
 *
 * @param url undefined if the configuration has none
 * @returns a sentence while the hub does not have the URL yet, undefined when it has it
 */
export async function ensureRecorderSecret(
  services: Pick<Services, 'applier' | 'cache' | 'secrets' | 'requeue' | 'texts'>,
  resource: HubConfiguration,
  url: string | undefined,
): Promise<string | undefined> {
  const { namespace } = resource.metadata;
  const hub = resource.spec.hubRef.name;
  const writer = secretsOfHub(services, namespace, hub);
  const present = await readGeneratedSecrets(services, namespace, hub);
  const isUpToDate = present?.values.get(RECORDER_KEY) === url && !present?.kept.has(RECORDER_KEY);
  if (isUpToDate && (writer || !(await hasFormerValues(services, resource)))) return undefined;
  if (!writer) {
    // Even without a URL the file is kept: a configuration that refers to its hash may still be in use.
    const values = new Map<string, string>(url === undefined ? [] : [[RECORDER_KEY, url]]);
    const inUse = configurationInUse(services);
    await writeGeneratedSecrets(services, inUse, { owner: resource }, hub, values);
    return undefined;
  }
  // The HubSecrets drops an unused URL from the file on its own, once the configuration has changed.
  if (url === undefined) return undefined;
  services.requeue('HubSecrets', namespace, writer.metadata.name);
  return `Waiting for the HubSecrets ${writer.metadata.name} to pass the URL of spec.recorder.databaseSecretRef to the hub. Its conditions say what it waits for.`;
}

/**
 * Reports whether the HubConfiguration writes the file itself and has former values in it: each write checks
 * whether the hub can still quote them. A file left by a deleted HubSecrets keeps its values.
 */
async function hasFormerValues(
  { applier, cache, secrets }: Pick<Services, 'applier' | 'cache' | 'secrets'>,
  resource: HubConfiguration,
): Promise<boolean> {
  const { namespace } = resource.metadata;
  const { secrets: name } = objectNames(resource.spec.hubRef.name);
  const present = cache.get(builtin.Secret.kind, namespace, name);
  if (!present || !applier.isOurs(present, resource)) return false;
  return readFormerValues(await secrets.get(namespace, name)).length > 0;
}
