/** Computes the files of a configMap, secret, downwardAPI or projected volume. All functions are pure. */
import { createHash } from 'node:crypto';
import type {
  V1DownwardAPIVolumeFile,
  V1KeyToPath,
  V1Pod,
  V1Volume,
  V1VolumeProjection,
} from '@kubernetes/client-node';
import type { File, Files } from './atomic-directory';
import { fieldValue } from './environment';
import { configMapData, MissingReference, secretData, type Lookup } from './lookup';

const DEFAULT_MODE = 0o644;

/** Whether the node writes the files of the volume. The pod writes those of other volumes. */
export function isCopied({ configMap, secret, downwardAPI, projected }: V1Volume): boolean {
  return Boolean(configMap ?? secret ?? downwardAPI ?? projected);
}

/** Returns the sources of a volume of any of the four types, in the form of a projected volume's sources. */
export function projections({ configMap, secret, downwardAPI, projected }: V1Volume): V1VolumeProjection[] {
  if (projected) return projected.sources ?? [];
  if (configMap) return [{ configMap }];
  if (downwardAPI) return [{ downwardAPI }];
  if (!secret) return [];
  const { secretName: name, items, optional } = secret;
  return [{ secret: { ...(name && { name }), ...(items && { items }), ...(optional && { optional }) } }];
}

export function fileMode({ configMap, secret, downwardAPI, projected }: V1Volume): number {
  return (configMap ?? secret ?? downwardAPI ?? projected)?.defaultMode ?? DEFAULT_MODE;
}

/**
 * The volume's files except service account tokens.
 *
 * @throws MissingReference with the kubelet's message
 */
export function volumeFiles(volume: V1Volume, pod: V1Pod, lookup: Lookup): Map<string, File> {
  const namespace = pod.metadata?.namespace ?? '';
  const defaultMode = fileMode(volume);
  const files: [string, File][] = [];
  for (const { configMap, secret, downwardAPI } of projections(volume)) {
    if (configMap) {
      const found = lookup.configMap(namespace, configMap.name ?? '');
      files.push(...select('configmap', found && configMapData(found), configMap, defaultMode));
    }
    if (secret) {
      const found = lookup.secret(namespace, secret.name ?? '');
      files.push(...select('secret', found && secretData(found), secret, defaultMode));
    }
    files.push(...(downwardAPI?.items ?? []).map((item) => downwardFile(item, pod, defaultMode)));
  }
  return new Map(files);
}

function select(
  kind: string,
  data: Record<string, Buffer> | undefined,
  { name = '', items, optional }: { name?: string; items?: V1KeyToPath[]; optional?: boolean },
  defaultMode: number,
): [string, File][] {
  if (!data && !optional) throw new MissingReference(`${kind} "${name}" not found`);
  if (!items?.length)
    return Object.entries(data ?? {}).map(([key, value]) => [key, { data: value, mode: defaultMode }]);
  return items.flatMap(({ key, path, mode }): [string, File][] => {
    const value = data?.[key];
    if (value) return [[path, { data: value, mode: mode ?? defaultMode }]];
    if (optional) return [];
    throw new MissingReference(`references non-existent ${kind} key: ${key}`);
  });
}

function downwardFile(
  { path, fieldRef, mode }: V1DownwardAPIVolumeFile,
  pod: V1Pod,
  defaultMode: number,
): [string, File] {
  if (!fieldRef)
    throw new MissingReference(`downwardAPI item ${path} without fieldRef is not supported in the sandbox`);
  return [path, { data: Buffer.from(fieldValue(pod, fieldRef.fieldPath)), mode: mode ?? defaultMode }];
}

/** A hash of paths, modes and contents. Equal sets of files have equal hashes. */
export function fingerprint(files: Files): string {
  const hash = createHash('sha256');
  for (const [path, { data, mode }] of files) hash.update(`${path}\0${mode}\0${data.length}\0`).update(data);
  return hash.digest('hex');
}
