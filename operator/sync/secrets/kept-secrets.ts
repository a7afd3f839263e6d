import type { ClusterObject } from '../../runtime/objects';
import { objectNames } from '../../kinds/object-names';
import { builtin } from '../../runtime/types';
import { secretUses } from '../configuration/secret-uses';
import type { Services } from '../services';
import { isOwnNote, type ReadSecrets } from './secrets-yaml';

interface ConfigMap extends ClusterObject {
  readonly data?: Readonly<Record<string, string>>;
}

/**
 * The values that are given no longer and that the configuration of the hub still uses: the published one, or those that
 * the operator goes back to. Without them the hub could load none of them (rules.md, "Secrets").
 */
export async function valuesToKeep(
  { applier }: Pick<Services, 'applier'>,
  namespace: string,
  hub: string,
  before: ReadSecrets | undefined,
  values: ReadonlyMap<string, string>,
): Promise<ReadonlyMap<string, string>> {
  const gone = [...(before?.values ?? [])].filter(([key]) => !values.has(key) && !isOwnNote(key));
  if (gone.length === 0) return new Map();
  const names = objectNames(hub);
  const used = new Set<string>();
  for (const name of [names.configuration, names.acceptedConfiguration, names.lastGoodConfiguration]) {
    const configMap = await applier.find<ConfigMap>(builtin.ConfigMap, namespace, name);
    const files = Object.entries(configMap?.data ?? {}).filter(([file]) => !file.startsWith('.'));
    for (const key of secretUses(Object.fromEntries(files)).keys()) used.add(key);
  }
  return new Map(gone.filter(([key]) => used.has(key)));
}
