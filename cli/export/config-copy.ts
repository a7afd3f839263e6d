import { join } from 'node:path';
import { isMap, isScalar, isSeq, parseDocument, type YAMLMap } from 'yaml';
import { type ConfigEntityKind, OWN_FILES } from '../../operator/client/connection/config-entity';
import { kubectlReading } from '../../operator/offline/manifests';
import { syntaxMessage } from '../../operator/offline/syntax-messages';
import { CommandError } from '../command-error';
import { readText } from '../yaml/replace-file';

/** The ids of the objects in the hub's own files, which its API can read and change. */
export type IdsInFiles = Readonly<Partial<Record<ConfigEntityKind, ReadonlySet<string>>>>;

/** Scenes are not included: they have no id other than that in the entity registry. */
const KINDS = ['automation', 'script'] as const;

/**
 * Reads the ids in a copy of a hub's folder `/config`. The definitions themselves are read from the memory of
 * the hub, which may be newer.
 *
 * @throws CommandError the folder has none of the files, or one of them is not YAML
 */
export async function idsInCopy(folder: string): Promise<IdsInFiles> {
  const found: Partial<Record<ConfigEntityKind, ReadonlySet<string>>> = {};
  for (const kind of KINDS) {
    const path = join(folder, OWN_FILES[kind]);
    const text = await readText(path);
    if (text !== undefined) found[kind] = new Set(idsIn(path, text));
  }
  if (Object.keys(found).length > 0) return found;
  throw new CommandError(
    `${folder} has neither ${KINDS.map((kind) => OWN_FILES[kind]).join(' nor ')}: copy them there from the folder /config of the hub`,
  );
}

/**
 * The ids in a file: the field `id` of automations, the keys of scripts. A number without quotes is an id
 * that the API cannot find.
 */
function idsIn(path: string, text: string): readonly string[] {
  // The reader does not know tags of Home Assistant, such as !input, and would warn of them.
  const { contents, errors } = parseDocument(text, { ...kubectlReading, logLevel: 'error' });
  const [error] = errors;
  if (error) throw new CommandError(`${path}: ${syntaxMessage(error)}`);
  if (isMap(contents)) return contents.items.flatMap(({ key }) => (isScalar(key) ? [String(key.value)] : []));
  if (!isSeq(contents)) return [];
  return contents.items.flatMap((item) => {
    const id: unknown = isMap(item) ? (item as YAMLMap).get('id') : undefined;
    return typeof id === 'string' ? [id] : [];
  });
}
