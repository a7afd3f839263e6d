import type { ConfigurationInUse } from './configuration-in-use';
import { isOwnNote, type ReadSecrets } from './secrets-yaml';

/**
 * The values that are given no longer and that the configuration of the hub still uses: the published one, or those that
 * the operator goes back to. Without them the hub could load none of them (rules.md, "Secrets").
 */
export async function valuesToKeep(
  configuration: ConfigurationInUse,
  namespace: string,
  hub: string,
  before: ReadSecrets | undefined,
  values: ReadonlyMap<string, string>,
): Promise<ReadonlyMap<string, string>> {
  const gone = [...(before?.values ?? [])].filter(([key]) => !values.has(key) && !isOwnNote(key));
  if (gone.length === 0) return new Map();
  const used = await configuration.secretKeys(namespace, hub);
  return new Map(gone.filter(([key]) => used.has(key)));
}
