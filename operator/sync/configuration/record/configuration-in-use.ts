import { objectNames } from '../../../kinds/object-names';
import type { ConfigurationInUse } from '../../secrets-yaml/configuration-in-use';
import type { Services } from '../../services';
import { filesIn, findConfigMap } from './hub-files';
import { readRecord } from './record';
import { secretUses } from '../generate/secret-uses';

export function configurationInUse(services: Pick<Services, 'applier'>): ConfigurationInUse {
  return {
    async secretKeys(namespace, hub) {
      const names = objectNames(hub);
      const keys = new Set<string>();
      for (const name of [names.configuration, names.acceptedConfiguration, names.lastGoodConfiguration]) {
        const configMap = await findConfigMap(services, namespace, name);
        const uses = configMap && secretUses(filesIn(configMap));
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
