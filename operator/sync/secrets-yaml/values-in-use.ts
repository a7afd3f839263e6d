import { isOwnNote, type ReadSecrets } from './secrets-yaml';

/** The secrets that the configurations of hubs need. The folder `configuration`, which uses this one, implements it. */
export interface ConfigurationInUse {
  /** The keys that `!secret` asks for in the published configuration of a hub, or in those that the operator goes back to. */
  secretKeys(namespace: string, hub: string): Promise<ReadonlySet<string>>;
  /** Whether the hub has loaded its whole configuration with the secrets of this hash. */
  hasLoadedSecrets(namespace: string, hub: string, hash: string | undefined): Promise<boolean>;
}

/**
 * The values that are given no longer and that the configuration of the hub still uses: the published one, or those that
 * the operator goes back to. Without them the hub could load none of them (rules.md, "Secrets").
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

/** Key in the Secret `<hub>-secrets`; a name that begins with a dot is no file of the hub. */
export const FORMER_VALUES_KEY = '.former-values';

/** Bytes. The Secret has to have room for the values of now. */
const LARGEST_FORMER = 64 * 1024;

/**
 * The values of before, which the hub may still quote: it reads changed secrets later, and some of them at a restart only.
 * They are kept in the Secret beside the values of now, so that texts of the hub are masked after a restart of the operator
 * as well (rules.md, "Secrets").
 *
 * @param content of the Secret as it is
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
  // Once the hub has loaded the present Secret, it knows no older values.
  const isObsolete =
    former.length > 0 && (await configuration.hasLoadedSecrets(namespace, hub, before?.hash));
  let room = LARGEST_FORMER;
  // One that is too large leaves its room to those after it.
  return [...new Set([...replaced, ...(isObsolete ? [] : former)])].filter((value) => {
    const size = writeFormerValues([value]).length;
    const isKept = !given.has(value) && size <= room;
    if (isKept) room -= size;
    return isKept;
  });
}

/** The values of before in the Secret `<hub>-secrets`, the latest first. */
export function readFormerValues(content: ReadonlyMap<string, string> | undefined): readonly string[] {
  const lines = content?.get(FORMER_VALUES_KEY)?.split('\n') ?? [];
  return lines.map((line) => Buffer.from(line, 'base64').toString());
}

/** One value a line: values may have several lines. */
export const writeFormerValues = (values: readonly string[]): string =>
  values.map((value) => Buffer.from(value).toString('base64')).join('\n');
