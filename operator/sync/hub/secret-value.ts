import type { Hub } from '../../kinds';
import { HUB_LABEL } from '../../kinds/annotations';
import { builtin } from '../../runtime/types';
import type { Services } from '../services';

/** A value out of a Secret, or the sentence that says what is missing. */
export type SecretValue = { readonly value: string } | { readonly missing: string };

/**
 * A value of a Secret that a Hub names. One of an external hub must carry the label `<group>/hub: <name of the Hub>`,
 * and is not even read without it: the address there is a person's word, and whoever may write Hubs must not get the
 * operator to send any Secret of the namespace to a host of their own.
 */
export async function secretValue(
  services: Services,
  hub: Hub,
  { name, key }: { name: string; key: string },
): Promise<SecretValue> {
  const { namespace } = hub.metadata;
  const known = services.cache.get(builtin.Secret.kind, namespace, name);
  if (!known) return { missing: `The Secret ${name} does not exist: create it.` };
  if (hub.spec.external && known.metadata.labels?.[HUB_LABEL] !== hub.metadata.name) {
    return {
      missing: `The Secret ${name} lacks the label ${HUB_LABEL}: ${hub.metadata.name}, so it is not read.`,
    };
  }
  const value = (await services.secrets.get(namespace, name))?.get(key);
  return value ? { value } : { missing: `The Secret ${name} has no value under the key ${key}.` };
}
