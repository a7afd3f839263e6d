import { posix } from 'node:path';
import type { HubCommunityRepository } from '../../../kinds';
import { CONFIG_VOLUME, HUB_CONTAINER, type Pod } from '../../hub-pod/owned-objects';
import type { FoldersReport } from '../../hub-pod/termination-messages';
import type { Services } from '../../services';
import { type ForeignTarget, foldersOf } from '../generate/foreign-targets';

/** The folder into which themes of community repositories are installed while the hub runs. */
const THEMES = 'themes';

/**
 * The included folders that the configuration does not provide, with their state according to the report of
 * the pod's start.
 */
interface Folders {
  /** Folders that the volume does not have. */
  readonly missing: readonly ForeignTarget[];
  /** Folders in which the volume has no file that the hub reads. */
  readonly empty: readonly ForeignTarget[];
  /** Folders that the start of the pod has not checked. */
  readonly unknown: readonly ForeignTarget[];
}

/** @param report undefined if the pod was started by an earlier version, which did not check folders */
export function foldersFound(
  { cache }: Pick<Services, 'cache'>,
  hub: { readonly namespace: string; readonly name: string },
  targets: readonly ForeignTarget[],
  report: FoldersReport | undefined,
): Folders {
  const folders = targets.filter(({ type }) => type === 'folder');
  const among = (names: readonly string[] = []) => folders.filter(({ path }) => names.includes(path));
  const missing = among(report?.missing);
  const isInstalled =
    missing.some(({ path }) => path === THEMES) &&
    [...cache.ofHub<HubCommunityRepository>('HubCommunityRepository', hub.namespace, hub.name)].some(
      ({ spec }) => spec.category === 'theme',
    );
  return {
    missing: isInstalled ? missing.filter(({ path }) => path !== THEMES) : missing,
    empty: among(report?.empty),
    unknown: among(unknownFolders(foldersOf(targets), report)),
  };
}

/** Folders that the start of the pod has not checked. None if its report is incomplete. */
export function unknownFolders(
  folders: readonly string[],
  report: FoldersReport | undefined,
): readonly string[] {
  if (!report?.isComplete) return [];
  const known = new Set([...report.missing, ...report.empty, ...report.present]);
  return folders.filter((folder) => !known.has(folder));
}

/**
 * The report as far as it is true for the hub's container, in which `podTemplate` may mount another volume at
 * a folder.
 */
export function asInHub(report: FoldersReport | undefined, pod: Pod): FoldersReport | undefined {
  if (!report) return undefined;
  const mounts = mountsInConfig(pod);
  const isMounted = (folder: string) =>
    mounts.some((mount) => isWithin(folder, mount) || isWithin(mount, folder));
  const seen = (names: readonly string[]) => names.filter((name) => !isMounted(name));
  const elsewhere = [...report.missing, ...report.empty].filter(isMounted);
  return {
    ...report,
    missing: seen(report.missing),
    empty: seen(report.empty),
    present: [...report.present, ...elsewhere],
  };
}

/** The paths in the hub's directory at which its container mounts other volumes. */
function mountsInConfig({ spec }: Pod): readonly string[] {
  const mounts = spec?.containers?.find(({ name }) => name === HUB_CONTAINER)?.volumeMounts ?? [];
  const base = mounts.find(({ name, subPath }) => name === CONFIG_VOLUME && !subPath)?.mountPath;
  if (base === undefined) return [];
  return mounts
    .map(({ mountPath = '' }) => posix.relative(base, mountPath))
    .filter((path) => path !== '' && !path.startsWith('..'));
}

const isWithin = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`);
