import { objectNames } from '../../../kinds/object-names';
import { builtin } from '../../../runtime/types';
import type { ConfigurationInUse } from '../../secrets-yaml/configuration-in-use';
import type { Services } from '../../services';
import { type HubConfigMap, readRecord } from './record';
import { secretUses } from '../generate/secret-uses';

/** Reads the ConfigMaps of a hub from the API server: the cache has no contents of ConfigMaps. */
export function configurationInUse({ applier }: Pick<Services, 'applier'>): ConfigurationInUse {
  const find = (namespace: string, name: string) =>
    applier.find<HubConfigMap>(builtin.ConfigMap, namespace, name);
  return {
    async secretKeys(namespace, hub) {
      const names = objectNames(hub);
      const keys = new Set<string>();
      for (const name of [names.configuration, names.acceptedConfiguration, names.lastGoodConfiguration]) {
        const configMap = await find(namespace, name);
        const files = Object.entries(configMap?.data ?? {}).filter(([file]) => !file.startsWith('.'));
        for (const key of secretUses(Object.fromEntries(files)).keys()) keys.add(key);
      }
      return keys;
    },

    async hasLoadedSecrets(namespace, hub, hash) {
      const configMap = await find(namespace, objectNames(hub).acceptedConfiguration);
      const record = configMap && readRecord(configMap);
      return record?.pending.length === 0 && record.marker.secrets === hash;
    },
  };
}
