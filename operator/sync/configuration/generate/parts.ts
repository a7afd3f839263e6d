import { createHash } from 'node:crypto';
import { MARKER_SCRIPT } from '../../../kinds/ids';
import { MOST_PARTS } from '../../../kinds/object-names';
import type { Files } from './config-files';
import { configHash } from './config-hash';

/**
 * The parts of a configuration that is too large for one ConfigMap (rules.md, "Generated configuration"). Each is a ConfigMap of its
 * own, and the pod mounts all of them into one directory. A kubelet may show a new part beside a former one: so each part has a
 * file with its digest, and the marker in `configuration.yaml` names the digests that belong together.
 */

/** Bytes of the files in one part at most: the API server takes 1 MiB, with keys and metadata. */
export const LARGEST_PART = 900 * 1_024;

/** The file that has the digest of a part, in the hub's directory. */
export const partFile = (index: number): string => `hub-operator/part-${index}.yaml`;

const CONFIGURATION = 'configuration.yaml';
const INDICES = Array.from({ length: MOST_PARTS }, (_, index) => index);
const PART_FILES: ReadonlySet<string> = new Set(INDICES.map(partFile));

export const isPartFile = (name: string): boolean => PART_FILES.has(name);

/** Whether the files are those of a configuration in parts. */
export const isInParts = (files: Files): boolean => Object.hasOwn(files, partFile(0));

/** The digests of the parts, in their order. */
export const digestsOfParts = (files: Files): readonly string[] =>
  INDICES.map((index) => JSON.parse(files[partFile(index)]!) as string);

/** With the files that have the digests of the parts. Every part is there from the start: a pod links no file later. */
export function withPartFiles(files: Files): Files {
  const parts = assigned(files).map((part, index) => [
    partFile(index),
    `${JSON.stringify(configHash(part))}\n`,
  ]);
  return { ...files, ...(Object.fromEntries(parts) as Files) };
}

/** The files that are in no part. */
export const mainOf = ({ [CONFIGURATION]: text }: Files): Files => ({ [CONFIGURATION]: text! });

/** The files of each part, with that of its digest. */
export const partsOf = (files: Files): readonly Files[] =>
  assigned(files).map((part, index) => ({ ...part, [partFile(index)]: files[partFile(index)]! }));

/**
 * Whether the change is in more than one ConfigMap, so that a hub may read one half of it for a moment. The marker changes
 * with everything, and is no half of anything.
 */
export function isInSeveralObjects(before: Files, after: Files): boolean {
  if (!isInParts(before) && !isInParts(after)) return false;
  const changed = INDICES.filter((index) => before[partFile(index)] !== after[partFile(index)]).length;
  return changed + (withoutMarker(before) === withoutMarker(after) ? 0 : 1) > 1;
}

const withoutMarker = ({ [CONFIGURATION]: text = '' }: Files): string =>
  text
    .split('\n')
    .filter((line) => !line.includes(MARKER_SCRIPT))
    .join('\n');

/**
 * The part of a file follows from its name, so that one changed file is one changed part, also after a restart of the operator. A
 * file for which there is no room in it goes to the next one; three MiB always find room.
 */
function assigned(files: Files): readonly Files[] {
  const parts = INDICES.map((): { bytes: number; files: Record<string, string> } => ({
    bytes: 0,
    files: {},
  }));
  const sized = Object.entries(files)
    .filter(([name]) => name !== CONFIGURATION && !isPartFile(name))
    .map(([name, text]) => ({ name, text, bytes: Buffer.byteLength(text) }))
    .sort((one, other) => other.bytes - one.bytes || (one.name < other.name ? -1 : 1));
  for (const { name, text, bytes } of sized) {
    const first = createHash('sha256').update(name).digest()[0]!;
    const turns = INDICES.map((index) => parts[(first + index) % MOST_PARTS]!);
    const part = turns.find((each) => each.bytes + bytes <= LARGEST_PART) ?? turns[0]!;
    part.bytes += bytes;
    part.files[name] = text;
  }
  return parts.map((part) => part.files);
}
