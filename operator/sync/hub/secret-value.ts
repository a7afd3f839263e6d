import type { Hub } from '../../kinds';
import { HUB_LABEL } from '../../kinds/annotations';
import { builtin } from '../../runtime/types';
import type { Services } from '../services';

/** A value of a Secret, or a sentence that says what is missing. */
export type SecretValue = { readonly value: string } | { readonly missing: string };

/** `byBootstrap`: the operator creates the Secret itself. */
export interface SecretReference {
  readonly name: string;
  readonly key: string;
  readonly byBootstrap?: boolean;
}

/**
 * Reads a value of a Secret that a Hub names. That of an external hub is read only if it has the label `<group>/hub:
 * <name of the Hub>`. Otherwise any user who may write Hubs could have any Secret of the namespace sent to a host of
 * their own.
 */
export async function secretValue(
  services: Pick<Services, 'cache' | 'secrets'>,
  hub: Hub,
  { name, key, byBootstrap = false }: SecretReference,
): Promise<SecretValue> {
  const { namespace } = hub.metadata;
  const known = services.cache.get(builtin.Secret.kind, namespace, name);
  if (!known)
    return {
      missing: `The Secret ${name} does not exist${byBootstrap ? ' yet. The bootstrap creates it.' : ': create it.'}`,
    };
  if (hub.spec.external && known.metadata.labels?.[HUB_LABEL] !== hub.metadata.name) {
    return {
      missing: `The Secret ${name} lacks the label ${HUB_LABEL}: ${hub.metadata.name}, so it is not read. Add the label.`,
    };
  }
  const value = (await services.secrets.get(namespace, name))?.get(key);
  return value ? { value } : { missing: `The Secret ${name} has no value under the key ${key}.` };
}
