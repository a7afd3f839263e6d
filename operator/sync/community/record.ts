import type { HubCommunityRepository } from '../../kinds';
import type { Pod } from '../hub-pod/owned-objects';
import { installationOf, type Installed, verdictOf } from './installer-pod';

// What status records of the files on the volume.

/** The fields of status for files that a pod has put onto the volume. */
export interface InstallationRecord {
  readonly installedRepository: string;
  readonly installedVersion: string;
  readonly target: string;
  readonly digest: string;
  readonly provides: readonly string[];
  readonly claimUID: string;
  readonly installationID?: string;
  /** The hub has not loaded the files yet. */
  readonly activeDigest: null;
}

/** @returns undefined unless the pod has put files onto the volume */
export function recordOf(resource: HubCommunityRepository, pod: Pod): InstallationRecord | undefined {
  const installation = installationOf(pod);
  const install = installation?.install;
  const verdict = verdictOf(pod);
  if (!install || verdict.result !== 'done') return undefined;
  const { repository, ref, target, digest, provides } = install;
  const { installationID } = verdict;
  return {
    installedRepository: repository,
    installedVersion: ref,
    target,
    digest,
    provides: [...provides, ...formerScripts(resource, install)],
    claimUID: installation.claimUID,
    activeDigest: null,
    ...(installationID !== undefined && { installationID }),
  };
}

const FILE_FIELDS = [
  'digest',
  'target',
  'installedVersion',
  'installedRepository',
  'claimUID',
  'installationID',
] as const;

/** Reports whether status shows the files. */
export const isRecorded = ({ status }: HubCommunityRepository, record: InstallationRecord): boolean =>
  FILE_FIELDS.every((field) => record[field] === undefined || record[field] === status?.[field]);

/** Reports whether a pod installs, or has installed, files that status does not show yet. */
export function isUnrecorded(resource: HubCommunityRepository, pod: Pod): boolean {
  if (!installationOf(pod)?.install || pod.metadata.deletionTimestamp) return false;
  const record = recordOf(resource, pod);
  return record ? !isRecorded(resource, record) : verdictOf(pod).result === 'running';
}

/**
 * The former scripts of a plugin, which the dashboards still load. What other categories provide is gone from the
 * hub once it has read its files again.
 */
const formerScripts = (
  { spec, status }: HubCommunityRepository,
  { provides }: Installed,
): readonly string[] =>
  spec.category === 'plugin' ? (status?.provides ?? []).filter((each) => !provides.includes(each)) : [];
