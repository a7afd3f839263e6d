import type { HubCommunityRepositorySpec } from '../../kinds';
import {
  API_NOT_LOADED_REQUEUE,
  DEPENDENCY_REQUEUE,
  INSTALLER_POLL,
  POD_NOT_READY_REQUEUE,
} from '../../base/limits';
import { type Outcome, type Stalled, stalled, type Waiting, waiting } from '../../runtime/outcome';
import { hubNotFound } from '../hub-access/hub-clients';
import { DigestMismatch, InstallRejected, TargetTaken } from './errors';
import { DownloadFailed } from './download';
import type { Installed } from './installer-pod';
import type { Preparation } from './preparation';

// The outcomes of a community repository, each with its phase.

/** Milliseconds until the next step, after a status that has to be written first. */
const NEXT_STEP = 50;

export const noHub = (name: string): Outcome => hubNotFound(name, pending);

export const noPod = (name: string): Outcome =>
  waiting(
    'HubNotReady',
    `Waiting for the pod of the Hub ${name}: a second pod on its node writes the files to the same volume.`,
    POD_NOT_READY_REQUEUE,
    pending,
  );

const pending = { status: { phase: 'Pending' } };

export const downloading = ({ repository, ref }: HubCommunityRepositorySpec): Outcome =>
  waiting('Downloading', `${repository} is being downloaded at ${ref} and checked.`, DEPENDENCY_REQUEUE, {
    status: { phase: 'Validating' },
  });

export function preparationFailed({ error, retryAfter }: Preparation & { type: 'failed' }): Outcome {
  const details = { status: { phase: 'Failed' } };
  if (error instanceof TargetTaken) return stalled('DuplicateId', error.message, details);
  if (error instanceof DigestMismatch) return stalled('DigestMismatch', error.message, details);
  if (error instanceof InstallRejected) return installFailed(error.message, retryAfter ?? DEPENDENCY_REQUEUE);
  if (!(error instanceof DownloadFailed)) return stalled('InvalidRepository', error.message, details);
  return error.isTransient
    ? waiting('DownloadFailed', error.message, retryAfter ?? DEPENDENCY_REQUEUE, details)
    : stalled('DownloadFailed', error.message, {
        ...details,
        ...(retryAfter !== undefined && { after: retryAfter }),
      });
}

/** Nothing is downloaded. The installed version stays: without its files the hub might not start. */
export const notAllowed = (repository: string): Outcome =>
  stalled(
    'RepositoryNotAllowed',
    `The operator may not install spec.repository ${repository}: its setting COMMUNITY_REPOSITORIES does not list it. Ask who administers the operator.`,
    { status: { phase: 'Failed' } },
  );

/** @param detail why the pod waits */
export const installing = (target: string, detail?: string): Outcome =>
  waiting(
    'Installing',
    `A pod on the node of the hub writes the files to /config/${target}.${detail === undefined ? '' : ` It waits: ${detail}`}`,
    INSTALLER_POLL,
    { status: { phase: 'Installing' } },
  );

/**
 * The pod has put the files there; the hub has not loaded them yet.
 *
 * @param installationID as the pod has reported it
 */
export const installed = (
  { repository, ref, target, digest, provides }: Installed,
  claimUID: string,
  installationID: string | undefined,
): Outcome =>
  waiting('Installing', `The files are in /config/${target}, and the hub loads them.`, NEXT_STEP, {
    status: {
      phase: 'Installing',
      installedRepository: repository,
      installedVersion: ref,
      target,
      digest,
      provides,
      claimUID,
      activeDigest: null,
      ...(installationID !== undefined && { installationID }),
    },
  });

export const conflict = (message: string, after: number): Stalled =>
  stalled('NameConflict', `${message}. Nothing was changed: rename or delete it there.`, {
    after,
    status: { phase: 'Failed' },
  });

export const installFailed = (message: string, after: number): Outcome =>
  waiting(
    'InstallFailed',
    `The files could not be put onto the volume: ${message.replace(/\.$/, '')}. It is tried again.`,
    after,
    {
      status: { phase: 'Failed' },
    },
  );

export const restartPending = (target: string): Outcome =>
  waiting(
    'RestartPending',
    `The files are in /config/${target}. The hub is being restarted to load them.`,
    API_NOT_LOADED_REQUEUE,
    { status: { phase: 'Installing' } },
  );

/** @param rejection why there is no such pod, as a sentence */
export const removing = (target: string, rejection?: string): Waiting =>
  waiting(
    'Removing',
    `A pod on the node of the hub removes the files from /config/${target}.${rejection === undefined ? '' : ` It cannot be created: ${rejection}`}`,
    INSTALLER_POLL,
    {
      status: { phase: 'Removing' },
    },
  );

/** The pod has removed the files. Status must say so before the Hub reads it. */
export const removed = (): Waiting =>
  waiting('Removing', 'The files are removed.', NEXT_STEP, {
    status: {
      phase: 'Removing',
      installedRepository: null,
      installedVersion: null,
      target: null,
      digest: null,
      activeDigest: null,
      claimUID: null,
      installationID: null,
    },
  });

/** An installation that ended after the deletion: its files are removed as well. */
export const installedMeanwhile = (target: string): Waiting =>
  waiting('Removing', 'The files of the last installation are removed.', NEXT_STEP, {
    status: { phase: 'Removing', target },
  });
