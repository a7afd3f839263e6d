import type { HubSecretsSpec } from '../../kinds';
import type { SecretContent } from '../../runtime/secrets';
import { type MissingSecret, missingSecret } from '../secrets-yaml/recorder-url';
import { RESERVED_PREFIX } from '../secrets-yaml/secrets-yaml';

export type Combined =
  | { readonly type: 'values'; readonly values: ReadonlyMap<string, string> }
  /** A Secret or a key does not exist (yet). `message`: a sentence that names it. */
  | ({ readonly type: 'missing' } & MissingSecret)
  /**
   * A key that the hub does not accept, or a value that is not text. `message`: a sentence that names the key
   * and says how to correct it.
   */
  | { readonly type: 'invalid'; readonly message: string };

/**
 * Combines the values of Secrets for the hub. If two have the same name, the later one is used.
 *
 * @param secrets the content of each Secret that exists
 */
export function combineSecrets(
  { secretRefs }: Pick<HubSecretsSpec, 'secretRefs'>,
  secrets: ReadonlyMap<string, SecretContent>,
): Combined {
  const values = new Map<string, string>();
  for (const reference of withFields(secretRefs)) {
    const { field, name, listed } = reference;
    const secret = secrets.get(name);
    if (!secret) return { type: 'missing', ...missingSecret(name, field) };
    const keys = listed ?? [...secret.values.keys()].sort().map((key) => ({ key, as: key }));
    for (const { key, as } of keys) {
      const value = secret.values.get(key);
      if (value === undefined) return { type: 'missing', ...missingSecret(name, field, key) };
      const problem = nameProblem(as) ?? (secret.binary.has(key) ? BINARY : undefined);
      if (problem) return { type: 'invalid', message: invalidKeyMessage(reference, key, problem) };
      values.set(as, value);
    }
  }
  return { type: 'values', values };
}

/**
 * A sentence about the first key listed in `keys` or `items` that the hub does not accept.
 *
 * @returns undefined when all listed keys are valid
 */
export function invalidListedKey({ secretRefs }: Pick<HubSecretsSpec, 'secretRefs'>): string | undefined {
  for (const reference of withFields(secretRefs))
    for (const { key, as } of reference.listed ?? []) {
      const problem = nameProblem(as);
      if (problem) return invalidKeyMessage(reference, key, problem);
    }
  return undefined;
}

/**
 * The references, each with its field in the spec and the keys that it lists. Without a list it takes all
 * keys.
 */
const withFields = (secretRefs: HubSecretsSpec['secretRefs']) =>
  secretRefs.map(({ name, keys, items }, index) => ({
    field: `spec.secretRefs[${index}]`,
    name,
    listed: (keys ?? items) && [...(keys ?? []).map((key) => ({ key, as: key })), ...(items ?? [])],
  }));

function invalidKeyMessage(
  { name, field, listed }: ReturnType<typeof withFields>[number],
  key: string,
  problem: string,
): string {
  const alternative = listed ? '' : `, or list the others in ${field}.keys`;
  return `The key ${key} of the Secret ${name} in ${field} ${problem}${alternative}.`;
}

/**
 * The reason why the hub cannot have a secret of this name.
 *
 * @returns undefined when the name is valid
 */
function nameProblem(name: string): string | undefined {
  if (name === 'logger') return 'is ignored by the hub under the name logger: give it another name by items';
  if (name.startsWith(RESERVED_PREFIX))
    return `has a name that begins with ${RESERVED_PREFIX}, which is reserved: give it another name by items`;
  return undefined;
}

const BINARY = 'is not UTF-8 text, which a secret of the hub must be: encode it';
