import type { Hub } from '../../kinds';
import { type HubUse, readNamedSecret, SecretRefused } from '../../runtime/named-secret';
import { builtin } from '../../runtime/types';
import type { Services } from '../services';

/**
 * A value of a Secret, or a sentence that names the missing part. `isRefused`: the Secret exists, but the
 * resource must not name it (rules.md, "Secrets that a resource may name").
 */
type SecretValue = { readonly value: string } | MissingValue;

export interface MissingValue {
  readonly missing: string;
  readonly isRefused?: true;
}

/**
 * A reference to a key of a Secret. `field` is the field of the spec that names the Secret, undefined if its
 * name is derived from the name of the Hub. `byBootstrap`: the operator creates the Secret.
 */
interface SecretReference {
  readonly name: string;
  readonly key: string;
  readonly field?: string | undefined;
  readonly byBootstrap?: boolean;
  readonly use?: HubUse;
}

/**
 * Reads a value from a Secret that a Hub names, or from the Secret that the operator generated for the Hub.
 */
export async function secretValue(
  services: Pick<Services, 'applier' | 'cache' | 'secrets' | 'settings'>,
  hub: Hub,
  { name, key, field, byBootstrap = false, use = 'Other' }: SecretReference,
): Promise<SecretValue> {
  const { namespace } = hub.metadata;
  const known = services.cache.get(builtin.Secret.kind, namespace, name);
  if (!known)
    return {
      missing: `The Secret ${name} does not exist${byBootstrap ? ' yet. The bootstrap creates it.' : ': create it.'}`,
    };
  const isGenerated = field === undefined || (byBootstrap && services.applier.isOurs(known, hub));
  try {
    const values = isGenerated
      ? await services.secrets.get(namespace, name)
      : (await readNamedSecret(services, { namespace, hub: hub.metadata.name, name, field, use }))?.values;
    const value = values?.get(key);
    return value ? { value } : { missing: `The Secret ${name} has no value under the key ${key}.` };
  } catch (error) {
    if (!(error instanceof SecretRefused)) throw error;
    return { missing: error.message, isRefused: true };
  }
}
