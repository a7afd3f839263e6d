import type { Inventory } from './inventory';
import type { Left } from './sorting';

/** Most keys in `spec.secretRefs[].keys`. Without the list, all keys of the Secret are used. */
const MOST_KEYS = 256;

/** The secrets of a configuration, without their values. */
interface ConvertedSecrets {
  /**
   * The Secret that the user has to create, and the spec of the HubSecrets that refers to it. Absent if no
   * secret is used.
   */
  readonly secret?: { readonly name: string; readonly keys: readonly string[]; readonly spec: object };
  readonly warnings: readonly string[];
  readonly stays: readonly Left[];
}

export function secretsOf(hub: string, { secrets, given }: Inventory): ConvertedSecrets {
  const name = `${hub}-passwords`;
  const keys = secrets.filter(isKey);
  const unknown = given ? keys.filter((key) => !given.includes(key)) : [];
  const unused = (given ?? []).filter((key) => !secrets.includes(key));
  return {
    ...(keys.length > 0 && {
      secret: { name, keys, spec: { secretRefs: [{ name, ...(keys.length <= MOST_KEYS && { keys }) }] } },
    }),
    warnings: [
      ...secrets
        .filter((key) => !isKey(key))
        .map(
          (key) => `!secret ${key}: a Secret has no such key: rename it, with letters, digits and _.- alone.`,
        ),
      ...(unknown.length > 0
        ? [`secrets.yaml has no ${unknown.join(', ')}: the hub does not start without.`]
        : []),
    ],
    stays:
      unused.length > 0
        ? [{ path: 'secrets.yaml', reason: `nothing uses ${unused.length} of its keys` }]
        : [],
  };
}

/** Whether a name can be a key of HubSecrets. The hub ignores a secret named `logger`. */
const isKey = (key: string): boolean => /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,252}$/.test(key) && key !== 'logger';
