import { configuration as definition, type HubConfiguration } from '../../kinds';
import { defaulted } from '../../kinds/schema';
import { readNamedSecret, SecretRefused } from '../../runtime/named-secret';
import type { Services } from '../services';

/** A Secret or a key that does not exist. `message`: a sentence that names it. */
export interface MissingSecret {
  readonly reason: 'SecretNotFound' | 'KeyNotFound';
  readonly message: string;
}

/** @param key the missing key; undefined if the Secret itself is missing */
export const missingSecret = (name: string, field: string, key?: string): MissingSecret =>
  key === undefined
    ? {
        reason: 'SecretNotFound',
        message: `Waiting for the Secret ${name} in ${field}: it does not exist. Create it.`,
      }
    : {
        reason: 'KeyNotFound',
        message: `Waiting for the key ${key} of the Secret ${name} in ${field}: the Secret does not have it. Add it.`,
      };

/** The URL of the recorder's database in the Secret that `spec.recorder.databaseSecretRef` names. */
type RecorderUrl =
  | { readonly type: 'url'; readonly url: string }
  | ({ readonly type: 'missing' } & MissingSecret)
  /** The Secret exists, but the resource must not name it (rules.md, "Secrets that a resource may name"). */
  | { readonly type: 'missing'; readonly reason: 'SecretRefused'; readonly message: string };

/**
 * Reads the database URL of the recorder.
 *
 * @returns undefined when the configuration does not use one from a Secret
 */
export async function recorderUrl(
  services: Pick<Services, 'cache' | 'secrets' | 'settings'>,
  resource: HubConfiguration,
): Promise<RecorderUrl | undefined> {
  const { recorder } = defaulted(definition.spec, resource.spec);
  if (!recorder?.databaseSecretRef || recorder.enabled === false) return undefined;
  const { name, key } = recorder.databaseSecretRef;
  const field = 'spec.recorder.databaseSecretRef';
  const { namespace } = resource.metadata;
  try {
    const found = await readNamedSecret(services, { namespace, hub: resource.spec.hubRef.name, name, field });
    const url = found?.values.get(key);
    return url ? { type: 'url', url } : { type: 'missing', ...missingSecret(name, field, found && key) };
  } catch (error) {
    if (!(error instanceof SecretRefused)) throw error;
    return { type: 'missing', reason: 'SecretRefused', message: error.message };
  }
}
