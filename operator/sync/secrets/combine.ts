import type { HubSecretsSpec } from '../../kinds';
import type { SecretContent } from '../../runtime/secrets';
import { type MissingSecret, missingSecret } from '../secrets-yaml/recorder-url';
import { RESERVED_PREFIX } from '../secrets-yaml/secrets-yaml';

export type Combined =
  | { readonly type: 'values'; readonly values: ReadonlyMap<string, string> }
  /** A Secret or a key is not there (yet). `message`: which, as a sentence. */
  | ({ readonly type: 'missing' } & MissingSecret)
  /** A key that the hub does not take, or a value that is no text. `message`: which, and the way out. */
  | { readonly type: 'invalid'; readonly message: string };

/** The values that the hub gets: of two with one name the later one. `secrets` has the content of each Secret that exists. */
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

/** The first of the keys that `keys` and `items` list which the hub does not take, as a sentence; undefined: none. */
export function invalidListedKey({ secretRefs }: Pick<HubSecretsSpec, 'secretRefs'>): string | undefined {
  for (const reference of withFields(secretRefs))
    for (const { key, as } of reference.listed ?? []) {
      const problem = nameProblem(as);
      if (problem) return invalidKeyMessage(reference, key, problem);
    }
  return undefined;
}

/** The references, each with its field and the keys that it lists; undefined: it takes all. */
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

/** Why the hub cannot have a secret of this name; undefined: it can. */
function nameProblem(name: string): string | undefined {
  if (name === 'logger') return 'is ignored by the hub under the name logger: give it another name by items';
  if (name.startsWith(RESERVED_PREFIX))
    return `has a name that begins with ${RESERVED_PREFIX}, which is reserved: give it another name by items`;
  return undefined;
}

const BINARY = 'is not UTF-8 text, which a secret of the hub must be: encode it';
