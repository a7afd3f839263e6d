import { createHash } from 'node:crypto';
import { load, YAMLException } from 'js-yaml';

/** Prefix of the keys that the operator reserves for itself. */
export const RESERVED_PREFIX = 'hub_operator';

/** Key with the hash of the content, for the marker of the configuration. */
export const SECRETS_HASH_KEY = `${RESERVED_PREFIX}_hash`;
/** Key with a random salt, so that readers of annotations cannot guess short values by their hash. */
const SALT_KEY = `${RESERVED_PREFIX}_salt`;
/** Key with the URL of the recorder's database, from `databaseSecretRef`. */
export const RECORDER_KEY = `${RESERVED_PREFIX}_recorder`;

/**
 * Key with the names of kept keys: no Secret provides them any more, but the configuration in use needs them
 * until another one is accepted.
 */
const KEPT_KEY = `${RESERVED_PREFIX}_kept`;

export interface SecretsYaml {
  readonly text: string;
  /** Salted hash of the values, as `sha256:<hex>`. */
  readonly hash: string;
}

/**
 * Writes the hub's `secrets.yaml`. The hub reads every value as exactly the given text.
 *
 * @param kept values that no Secret provides any more
 */
export function writeSecretsYaml(
  values: ReadonlyMap<string, string>,
  salt: string,
  kept: ReadonlyMap<string, string> = new Map(),
): SecretsYaml {
  const lines = [...values, ...kept]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .concat(kept.size > 0 ? [[KEPT_KEY, [...kept.keys()].sort().join(' ')]] : [])
    .concat([[SALT_KEY, salt]])
    .map(([key, value]) => `${quote(key)}: ${quote(value)}\n`)
    .join('');
  const hash = `sha256:${createHash('sha256').update(lines).digest('hex')}`;
  return { text: `${lines}${quote(SECRETS_HASH_KEY)}: ${quote(hash)}\n`, hash };
}

/** The content of a `secrets.yaml` that the operator generated. */
export interface ReadSecrets {
  /** All values by key, including the operator's own. */
  readonly values: ReadonlyMap<string, string>;
  /** The keys among them that no Secret provides any more. */
  readonly kept: ReadonlySet<string>;
  readonly hash: string;
  readonly salt: string;
}

/**
 * Reads a `secrets.yaml`.
 *
 * @returns undefined when the operator did not generate it: without its salt, hashes could reveal the values
 */
export function readSecretsYaml(text: string): ReadSecrets | undefined {
  // Lists are skipped: with YAML aliases the text of a list can grow without bound, and no secret is a list.
  const scalars = Object.entries(parse(text)).filter(([, value]) => typeof value !== 'object');
  const values = new Map(scalars.map(([key, value]) => [key, String(value)]));
  const [hash, salt] = [values.get(SECRETS_HASH_KEY), values.get(SALT_KEY)];
  if (hash === undefined || !salt) return undefined;
  const kept = new Set(values.get(KEPT_KEY)?.split(' '));
  return { values, kept, hash, salt };
}

/** Reports whether a key is the operator's metadata, and not a secret of a user. */
export const isOwnNote = (key: string): boolean => [SECRETS_HASH_KEY, SALT_KEY, KEPT_KEY].includes(key);

/**
 * A digest that represents a value where the value itself may not appear: it changes with the value. Empty if
 * there is no such key.
 */
export function digestOfSecret({ values, salt }: ReadSecrets, key: string): string {
  const value = values.get(key);
  return value === undefined
    ? ''
    : createHash('sha256').update(`${salt}\0${value}`).digest('hex').slice(0, 32);
}

/**
 * Quotes a text as a YAML scalar in double quotes. All characters except printable ASCII are escaped: YAML
 * 1.1 reads some others as line breaks, and rejects others.
 */
export function quote(text: string): string {
  let quoted = '';
  for (const character of text) quoted += /[ !#-[\]-~]/.test(character) ? character : escape(character);
  return `"${quoted}"`;
}

function escape(character: string): string {
  if (character === '"' || character === '\\') return `\\${character}`;
  const code = character.codePointAt(0)!;
  const [letter, digits] = code < 0x100 ? ['x', 2] : code < 0x10000 ? ['u', 4] : ['U', 8];
  return `\\${letter}${code.toString(16).toUpperCase().padStart(digits, '0')}`;
}

function parse(text: string): object {
  try {
    const content = load(text);
    return typeof content === 'object' && content !== null && !Array.isArray(content) ? content : {};
  } catch (error) {
    if (error instanceof YAMLException) return {};
    throw error;
  }
}
