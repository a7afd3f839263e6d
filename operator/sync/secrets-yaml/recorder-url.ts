import { configuration as definition, type HubConfiguration } from '../../kinds';
import { defaulted } from '../../kinds/schema';
import { readNamedSecret, SecretRefused } from '../../runtime/named-secret';
import type { Services } from '../services';

/** The URL of the recorder's database in the Secret that `spec.recorder.databaseSecretRef` names. */
export type RecorderUrl =
  | { readonly type: 'url'; readonly url: string }
  /** `message`: the Secret or the key that is not there, as a sentence. */
  | { readonly type: 'missing'; readonly reason: MissingReason; readonly message: string };

/** `SecretRefused`: no resource may name that Secret. */
export type MissingReason = 'SecretNotFound' | 'KeyNotFound' | 'SecretRefused';

/** Undefined: the configuration asks for none. */
export async function recorderUrl(
  services: Pick<Services, 'secrets' | 'settings'>,
  resource: HubConfiguration,
): Promise<RecorderUrl | undefined> {
  const { recorder } = defaulted(definition.spec, resource.spec);
  if (!recorder?.databaseSecretRef || recorder.enabled === false) return undefined;
  const { name, key } = recorder.databaseSecretRef;
  const field = 'spec.recorder.databaseSecretRef';
  const { namespace } = resource.metadata;
  const found = await readNamedSecret(services, {
    namespace,
    hub: resource.spec.hubRef.name,
    name,
    field,
  }).catch((error: unknown) => {
    if (error instanceof SecretRefused) return error;
    throw error;
  });
  if (found instanceof SecretRefused)
    return { type: 'missing', reason: 'SecretRefused', message: found.message };
  if (!found)
    return {
      type: 'missing',
      reason: 'SecretNotFound',
      message: `Waiting for the Secret ${name} in ${field}: it does not exist. Create it.`,
    };
  const url = found.values.get(key);
  if (!url)
    return {
      type: 'missing',
      reason: 'KeyNotFound',
      message: `Waiting for the key ${key} of the Secret ${name} in ${field}: the Secret does not have it. Add it.`,
    };
  return { type: 'url', url };
}
