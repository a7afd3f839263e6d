import type { HubConfigurationSpec } from '../../../kinds';
import { pathProblem } from '../../../kinds/file-paths';
import { isConfigMapOfHub } from '../../../kinds/object-names';
import type { Files, Origins } from './config-files';

/** The entries of a ConfigMap that `spec.filesFrom` names. */
export interface NamedConfigMap {
  readonly data?: Readonly<Record<string, string>> | undefined;
  readonly binaryData?: Readonly<Record<string, string>> | undefined;
  /**
   * True for a ConfigMap that the operator writes, for any hub. It is refused as a source, since a
   * configuration that includes itself would change forever.
   */
  readonly isOfOperator?: boolean;
}

/** The files of a spec: those of `filesFrom` in their order, then those of `files`, which override them. */
export type GivenFiles =
  | { readonly type: 'files'; readonly files: Files; readonly origins: Origins }
  /** A ConfigMap or a key does not exist. `message`: a sentence that begins with the field. */
  | { readonly type: 'missing'; readonly message: string }
  | { readonly type: 'invalid'; readonly message: string };

type Source = HubConfigurationSpec['filesFrom'] extends readonly (infer Entry)[] | undefined ? Entry : never;

/** A file of one source: its key in the ConfigMap, and its path within the folder. */
interface Item {
  readonly key: string;
  readonly path: string;
}

/** @param configMaps ConfigMaps by name, undefined for one that does not exist */
export function givenFiles(
  { hubRef, files = {}, filesFrom = [] }: Pick<HubConfigurationSpec, 'hubRef' | 'files' | 'filesFrom'>,
  configMaps: ReadonlyMap<string, NamedConfigMap | undefined>,
): GivenFiles {
  const all = new Map<string, string>();
  const origins = new Map<string, string>();
  for (const [index, source] of filesFrom.entries()) {
    const field = `spec.filesFrom[${index}]`;
    const { name } = source.configMapRef;
    const configMap = configMaps.get(name);
    // A ConfigMap of this hub is refused even before the operator has written it. Otherwise the message would
    // ask the user to create it.
    const isOfOperator = isConfigMapOfHub(hubRef.name, name) || configMap?.isOfOperator === true;
    const read = isOfOperator ? ofOperator(field, name) : filesOfSource(field, source, configMap);
    if ('type' in read) return read;
    for (const { key, path, text } of read) {
      all.set(path, text);
      origins.set(path, `${field}, key ${key} of the ConfigMap ${name}`);
    }
  }
  for (const [path, text] of Object.entries(files)) {
    all.set(path, text);
    origins.delete(path);
  }
  return { type: 'files', files: Object.fromEntries(all), origins: Object.fromEntries(origins) };
}

const ofOperator = (field: string, name: string) =>
  ({
    type: 'invalid',
    message: `${field}: the operator itself writes the ConfigMap ${name}, and each of its changes would be another one of the configuration. Name one of your own.`,
  }) as const;

type SourceFile = Item & { readonly text: string };

/** @param configMap undefined if it does not exist */
function filesOfSource(
  field: string,
  { configMapRef: { name }, folder, items, optional }: Source,
  configMap: NamedConfigMap | undefined,
): readonly SourceFile[] | Exclude<GivenFiles, { type: 'files' }> {
  if (!configMap) {
    if (optional) return [];
    return { type: 'missing', message: `${field}: there is no ConfigMap ${name}. Create it.` };
  }
  const { data = {}, binaryData = {} } = configMap;
  const all = Object.keys({ ...data, ...binaryData }).sort();
  const found: SourceFile[] = [];
  for (const { key, path } of items ?? all.map((each): Item => ({ key: each, path: each }))) {
    const invalid = (problem: string) =>
      ({ type: 'invalid', message: `${field}, key ${key} of the ConfigMap ${name}: ${problem}.` }) as const;
    if (Object.hasOwn(binaryData, key))
      return invalid('it is not text (binaryData). Remove it, or name the keys that are files in items');
    if (!Object.hasOwn(data, key)) {
      if (optional) continue;
      const keys = all.length > 0 ? `it has ${few(all)}` : 'it is empty';
      return {
        type: 'missing',
        message: `${field}: the ConfigMap ${name} has no key ${key}, ${keys}. Add it.`,
      };
    }
    const full = folder === '' ? path : `${folder}/${path}`;
    const problem = pathProblem(full);
    if (problem !== undefined) {
      const way = items ? 'Correct the path' : 'Rename the key, or name the keys that are files in items';
      return invalid(`the file ${full} is not allowed: ${problem}. ${way}`);
    }
    found.push({ key, path: full, text: data[key]! });
  }
  return found;
}

/** Maximum number of keys in a message. */
const MOST_KEYS = 5;

const few = (keys: readonly string[]): string =>
  [...keys.slice(0, MOST_KEYS), ...(keys.length > MOST_KEYS ? [`${keys.length - MOST_KEYS} more`] : [])].join(
    ', ',
  );
