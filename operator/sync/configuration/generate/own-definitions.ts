import { isMap, isScalar } from 'yaml';
import { CONFIG_ENTITY_KINDS, type ConfigEntityKind } from '../../../client/connection/config-entity';
import { MARKER_SCRIPT } from '../../../kinds/ids';
import type { OwnDefinitions } from '../../hub-pod/own-definitions';
import type { ConfigFiles, Place } from './config-files';

/**
 * Size limit in bytes. All annotations of an object have 256 KiB together, and the accepted configuration has
 * others.
 */
const LARGEST_ANNOTATION = 64 * 1_024;
const LONGEST_ID = 255;

/** The ids of the automations, scenes and scripts that the files define, in sections and in packages. */
export function ownDefinitionsIn(files: ConfigFiles): OwnDefinitions {
  const roots = [...(files.root ? [files.root] : []), ...files.packages];
  const found = new Map<ConfigEntityKind, Set<string>>();
  let room = LARGEST_ANNOTATION;
  for (const [key, section] of roots.flatMap((root) => [...files.entries(root)])) {
    const kind = CONFIG_ENTITY_KINDS.find((each) => key === each || key.startsWith(`${each} `));
    if (!kind) continue;
    const known = found.get(kind) ?? new Set<string>();
    for (const id of idsIn(files, kind, section)) {
      const size = Buffer.byteLength(JSON.stringify(id)) + 1;
      if (known.has(id) || id.length > LONGEST_ID || size > room) continue;
      known.add(id);
      room -= size;
    }
    if (known.size > 0) found.set(kind, known);
  }
  const kinds = CONFIG_ENTITY_KINDS.filter((kind) => found.has(kind));
  return Object.fromEntries(kinds.map((kind) => [kind, [...found.get(kind)!].sort()]));
}

function idsIn(files: ConfigFiles, kind: ConfigEntityKind, section: Place): string[] {
  if (kind === 'script') return [...files.entries(section).keys()].filter((id) => id !== MARKER_SCRIPT);
  return files.items(section).flatMap((item) => {
    if (!isMap(files.follow(item).node)) return [];
    const id = files.entry(item, 'id');
    const node = id && files.follow(id).node;
    return isScalar(node) && !node.tag?.startsWith('!') ? [String(node.value)] : [];
  });
}
