import { createHash } from 'node:crypto';
import { load, YAMLException } from 'js-yaml';

/** Keys that begin with this are the operator's own. */
export const RESERVED_PREFIX = 'hub_operator';

/** Hash of the content, for the marker of the configuration. */
export const SECRETS_HASH_KEY = `${RESERVED_PREFIX}_hash`;
/** Random, so that the hash does not tell short values to those who may read annotations. */
const SALT_KEY = `${RESERVED_PREFIX}_salt`;
/** URL of the recorder's database, of `databaseSecretRef`. */
export const RECORDER_KEY = `${RESERVED_PREFIX}_recorder`;

/** Keys that nothing gives any more, and that the configuration in use needs until another one is accepted. */
const KEPT_KEY = `${RESERVED_PREFIX}_kept`;

export interface SecretsYaml {
  readonly text: string;
  /** `sha256:<hex>` of the values, which is salted. */
  readonly hash: string;
}

/** The hub's `secrets.yaml`: every value is a text for the hub, exactly as it is. Nothing gives the kept values any more. */
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

/** A `secrets.yaml` of the operator as it was read. */
export interface ReadSecrets {
  /** All keys, the operator's own included. */
  readonly values: ReadonlyMap<string, string>;
  /** Keys among them that nothing gives any more. */
  readonly kept: ReadonlySet<string>;
  readonly hash: string;
  readonly salt: string;
}

/** Reads a `secrets.yaml`; undefined: the operator did not generate it, so that its values must not be told by hashes. */
export function readSecretsYaml(text: string): ReadSecrets | undefined {
  // The text of a list that aliases repeat has no bound, and no secret is a list.
  const scalars = Object.entries(parse(text)).filter(([, value]) => typeof value !== 'object');
  const values = new Map(scalars.map(([key, value]) => [key, String(value)]));
  const [hash, salt] = [values.get(SECRETS_HASH_KEY), values.get(SALT_KEY)];
  if (hash === undefined || !salt) return undefined;
  const kept = new Set(values.get(KEPT_KEY)?.split(' '));
  return { values, kept, hash, salt };
}

/** Whether the key is one of the operator's own notes, and no secret of a person. */
export const isOwnNote = (key: string): boolean => [SECRETS_HASH_KEY, SALT_KEY, KEPT_KEY].includes(key);

/** Stands for a value where that may be seen: another value has another digest. Empty: there is no such key. */
export function digestOfSecret({ values, salt }: ReadSecrets, key: string): string {
  const value = values.get(key);
  return value === undefined
    ? ''
    : createHash('sha256').update(`${salt}\0${value}`).digest('hex').slice(0, 32);
}

/**
 * A text as a YAML scalar in double quotes. Only printable ASCII is written as it is: YAML 1.1 takes some of the other
 * characters for line breaks, and rejects others.
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
