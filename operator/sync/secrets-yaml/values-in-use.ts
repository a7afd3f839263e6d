import { isOwnNote, type ReadSecrets } from './secrets-yaml';

/**
 * The secrets that the configurations of hubs need. This interface is implemented by the folder
 * `configuration`, which imports this one.
 */
export interface ConfigurationInUse {
  /**
   * The keys that `!secret` names in the published configuration of a hub, or in the configurations that the
   * operator can go back to.
   */
  secretKeys(namespace: string, hub: string): Promise<ReadonlySet<string>>;
  /** Reports whether the hub has loaded its whole configuration with the secrets of this hash. */
  hasLoadedSecrets(namespace: string, hub: string, hash: string | undefined): Promise<boolean>;
}

/**
 * The values that no Secret provides any more and that the hub's configuration still uses: the published one,
 * or one that the operator can go back to. Without these values the hub could load none of them (rules.md,
 * "Secrets").
 */
export async function valuesToKeep(
  configuration: ConfigurationInUse,
  namespace: string,
  hub: string,
  before: ReadSecrets | undefined,
  values: ReadonlyMap<string, string>,
): Promise<ReadonlyMap<string, string>> {
  const gone = [...(before?.values ?? [])].filter(([key]) => !values.has(key) && !isOwnNote(key));
  if (gone.length === 0) return new Map();
  const used = await configuration.secretKeys(namespace, hub);
  return new Map(gone.filter(([key]) => used.has(key)));
}

/**
 * Key in the Secret `<hub>-secrets`. Since its name begins with a dot, the hub does not read it as a file.
 */
export const FORMER_VALUES_KEY = '.former-values';

/** Limit in bytes, so that the Secret has room for the present values. */
const LARGEST_FORMER = 64 * 1024;

/**
 * The former values that the hub may still quote, since it reads changed secrets later, and some of them only
 * at a restart. They are kept in the Secret beside the present values, so that texts of the hub are also
 * redacted after a restart of the operator (rules.md, "Secrets").
 *
 * @param content present content of the Secret
 * @param values the desired values
 */
export async function valuesToMask(
  configuration: ConfigurationInUse,
  namespace: string,
  hub: string,
  content: ReadonlyMap<string, string> | undefined,
  before: ReadSecrets | undefined,
  values: ReadonlyMap<string, string>,
): Promise<readonly string[]> {
  const given = new Set(values.values());
  const replaced = [...(before?.values ?? [])].flatMap(([key, value]) => (isOwnNote(key) ? [] : [value]));
  const former = readFormerValues(content);
  // Once the hub has loaded the present Secret, it no longer knows older values.
  const isObsolete =
    former.length > 0 && (await configuration.hasLoadedSecrets(namespace, hub, before?.hash));
  let room = LARGEST_FORMER;
  // A value that is too large is skipped, and smaller ones after it may still fit.
  return [...new Set([...replaced, ...(isObsolete ? [] : former)])].filter((value) => {
    const size = writeFormerValues([value]).length;
    const isKept = !given.has(value) && size <= room;
    if (isKept) room -= size;
    return isKept;
  });
}

/** The former values in the Secret `<hub>-secrets`, the latest first. */
export function readFormerValues(content: ReadonlyMap<string, string> | undefined): readonly string[] {
  const lines = content?.get(FORMER_VALUES_KEY)?.split('\n') ?? [];
  return lines.map((line) => Buffer.from(line, 'base64').toString());
}

/** Encodes one value per line in Base64, since values may have several lines. */
export const writeFormerValues = (values: readonly string[]): string =>
  values.map((value) => Buffer.from(value).toString('base64')).join('\n');
