import { createHash } from 'node:crypto';
import { MARKER_SCRIPT } from '../../../kinds/ids';
import { MOST_PARTS } from '../../../kinds/object-names';
import type { Files } from './config-files';
import { configHash } from './config-hash';

/**
 * The parts of a configuration that is too large for one ConfigMap (rules.md, "Generated configuration").
 * Each part is its own ConfigMap, and the pod mounts all of them into one directory. A kubelet may show a new
 * part beside a former one. So each part has a file with its digest, and the marker in `configuration.yaml`
 * names the digests that belong together.
 */

/** Limit for the bytes of the files in one part. The API server accepts 1 MiB including keys and metadata. */
export const LARGEST_PART = 900 * 1_024;

/** The path in the hub's directory of the file with the digest of a part. */
export const partFile = (index: number): string => `hub-operator/part-${index}.yaml`;

const CONFIGURATION = 'configuration.yaml';
const INDICES = Array.from({ length: MOST_PARTS }, (_, index) => index);
const PART_FILES: ReadonlySet<string> = new Set(INDICES.map(partFile));

export const isPartFile = (name: string): boolean => PART_FILES.has(name);

/** Reports whether the configuration is split into parts. */
export const isInParts = (files: Files): boolean => Object.hasOwn(files, partFile(0));

/** The digests of the parts, in their order. */
export const digestsOfParts = (files: Files): readonly string[] =>
  INDICES.map((index) => JSON.parse(files[partFile(index)]!) as string);

/**
 * Adds the files with the digests of the parts. All parts exist from the beginning, even if empty, since a
 * pod links files only when it starts.
 */
export function withPartFiles(files: Files): Files {
  const parts = assigned(files).map((part, index) => [
    partFile(index),
    `${JSON.stringify(configHash(part))}\n`,
  ]);
  return { ...files, ...(Object.fromEntries(parts) as Files) };
}

/** The files that belong to no part. */
export const mainOf = ({ [CONFIGURATION]: text }: Files): Files => ({ [CONFIGURATION]: text! });

/** The files of each part, including the file with its digest. */
export const partsOf = (files: Files): readonly Files[] =>
  assigned(files).map((part, index) => ({ ...part, [partFile(index)]: files[partFile(index)]! }));

/**
 * Reports whether a change affects more than one ConfigMap, so that a hub may read only some of it for a
 * moment. A change of the marker does not count, since it comes with every change.
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
 * Assigns each file to a part. The part depends on the file's name, so that a changed file changes one part,
 * also after a restart of the operator. If a file does not fit into its part, it goes to the next one. All
 * parts together have room for more than the 3 MiB that a configuration may have.
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
