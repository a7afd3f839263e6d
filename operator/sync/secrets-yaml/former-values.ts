import type { ConfigurationInUse } from './configuration-in-use';
import { isOwnNote, type ReadSecrets } from './secrets-yaml';

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
  const older = isObsolete ? [] : former;
  const all = [...new Set([...replaced, ...older])].filter((value) => !given.has(value));
  return fitting(all);
}

/** The values of before in the Secret `<hub>-secrets`, the latest first. */
export function readFormerValues(content: ReadonlyMap<string, string> | undefined): readonly string[] {
  const lines = content?.get(FORMER_VALUES_KEY)?.split('\n') ?? [];
  return lines.map((line) => Buffer.from(line, 'base64').toString());
}

/** One value a line: values may have several lines. */
export const writeFormerValues = (values: readonly string[]): string =>
  values.map((value) => Buffer.from(value).toString('base64')).join('\n');

/** The first ones that fit; one that is too large leaves its room to those after it. */
function fitting(values: readonly string[]): readonly string[] {
  let size = 0;
  return values.filter((value) => {
    const grown = size + writeFormerValues([value]).length;
    if (grown > LARGEST_FORMER) return false;
    size = grown;
    return true;
  });
}
