import { configuration as definition, type HubConfiguration } from '../../kinds';
import { defaulted } from '../../kinds/schema';
import type { Services } from '../services';

/** The URL of the recorder's database in the Secret that `spec.recorder.databaseSecretRef` names. */
export type RecorderUrl =
  | { readonly type: 'url'; readonly url: string }
  /** `message`: the Secret or the key that is not there, as a sentence. */
  | { readonly type: 'missing'; readonly reason: 'SecretNotFound' | 'KeyNotFound'; readonly message: string };

/** Undefined: the configuration asks for none. */
export async function recorderUrl(
  { secrets }: Pick<Services, 'secrets'>,
  resource: HubConfiguration,
): Promise<RecorderUrl | undefined> {
  const { recorder } = defaulted(definition.spec, resource.spec);
  if (!recorder?.databaseSecretRef || recorder.enabled === false) return undefined;
  const { name, key } = recorder.databaseSecretRef;
  const field = 'spec.recorder.databaseSecretRef';
  const values = await secrets.get(resource.metadata.namespace, name);
  if (!values)
    return {
      type: 'missing',
      reason: 'SecretNotFound',
      message: `Waiting for the Secret ${name} in ${field}: it does not exist. Create it.`,
    };
  const url = values.get(key);
  if (!url)
    return {
      type: 'missing',
      reason: 'KeyNotFound',
      message: `Waiting for the key ${key} of the Secret ${name} in ${field}: the Secret does not have it. Add it.`,
    };
  return { type: 'url', url };
}
