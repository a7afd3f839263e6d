import type { HubSecretsSpec } from '../../kinds';
import type { SecretContent } from '../../runtime/secrets';
import { RESERVED_PREFIX } from '../secrets-yaml/secrets-yaml';

export type Combined =
  | { readonly type: 'values'; readonly values: ReadonlyMap<string, string> }
  /** A Secret or a key is not there (yet). `message`: which, as a sentence. */
  | { readonly type: 'missing'; readonly reason: 'SecretNotFound' | 'KeyNotFound'; readonly message: string }
  /** A key that the hub does not take, or a value that is no text. `message`: which, and the way out. */
  | { readonly type: 'invalid'; readonly message: string };

/** The values that the hub gets: of two with one name the later one. `secrets` has the content of each Secret that exists. */
export function combineSecrets(
  { secretRefs }: Pick<HubSecretsSpec, 'secretRefs'>,
  secrets: ReadonlyMap<string, SecretContent>,
): Combined {
  const values = new Map<string, string>();
  for (const [index, { name, keys, items }] of secretRefs.entries()) {
    const field = `spec.secretRefs[${index}]`;
    const secret = secrets.get(name);
    if (!secret)
      return {
        type: 'missing',
        reason: 'SecretNotFound',
        message: `Waiting for the Secret ${name} in ${field}: it does not exist. Create it.`,
      };
    const all = keys === undefined && items === undefined;
    const chosen = [
      ...(all ? [...secret.values.keys()].sort() : (keys ?? [])).map((key) => ({ key, as: key })),
      ...(items ?? []),
    ];
    for (const { key, as } of chosen) {
      const value = secret.values.get(key);
      if (value === undefined)
        return {
          type: 'missing',
          reason: 'KeyNotFound',
          message: `Waiting for the key ${key} of the Secret ${name} in ${field}: the Secret does not have it. Add it.`,
        };
      const problem = nameProblem(as) ?? (secret.binary.has(key) ? BINARY : undefined);
      if (problem)
        return { type: 'invalid', message: invalidKeyMessage({ key, name, field, problem, isListed: !all }) };
      values.set(as, value);
    }
  }
  return { type: 'values', values };
}

/** The first of the keys that `keys` and `items` list which the hub does not take, as a sentence; undefined: none. */
export function invalidListedKey({ secretRefs }: Pick<HubSecretsSpec, 'secretRefs'>): string | undefined {
  for (const [index, { name, keys = [], items = [] }] of secretRefs.entries()) {
    const field = `spec.secretRefs[${index}]`;
    for (const { key, as } of [...keys.map((each) => ({ key: each, as: each })), ...items]) {
      const problem = nameProblem(as);
      if (problem) return invalidKeyMessage({ key, name, field, problem, isListed: true });
    }
  }
  return undefined;
}

function invalidKeyMessage({ key, name, field, problem, isListed }: Readonly<InvalidKey>): string {
  const alternative = isListed ? '' : `, or list the others in ${field}.keys`;
  return `The key ${key} of the Secret ${name} in ${field} ${problem}${alternative}.`;
}

interface InvalidKey {
  key: string;
  /** Name of the Secret. */
  name: string;
  field: string;
  problem: string;
  isListed: boolean;
}

/** Why the hub cannot have a secret of this name; undefined: it can. */
function nameProblem(name: string): string | undefined {
  if (name === 'logger') return 'is ignored by the hub under the name logger: give it another name by items';
  if (name.startsWith(RESERVED_PREFIX))
    return `has a name that begins with ${RESERVED_PREFIX}, which is reserved: give it another name by items`;
  return undefined;
}

const BINARY = 'is not UTF-8 text, which a secret of the hub must be: encode it';
