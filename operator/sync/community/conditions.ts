import type { HubCommunityRepositorySpec } from '../../kinds';
import {
  API_NOT_LOADED_REQUEUE,
  DEPENDENCY_REQUEUE,
  DOWNLOAD_REJECTED_RETRY,
  INSTALLER_POLL,
  POD_NOT_READY_REQUEUE,
} from '../../base/limits';
import { type Outcome, stalled, type Waiting, waiting } from '../../runtime/outcome';
import { hubNotFound } from '../hub-connection/hub-clients';
import { DigestMismatch, InstallRejected, TargetTaken } from './errors';
import { DownloadFailed } from './download';
import type { Preparation } from './preparation';
import type { InstallationRecord } from './record';

// The outcomes of a community repository, each with its phase.

/** Milliseconds until the next step, when status has to be written first. */
const NEXT_STEP = 50;

export const noHub = (name: string): Outcome => hubNotFound(name, pending);

export function noPod(name: string): Outcome {
  const message = `Waiting for the pod of the Hub ${name}: a second pod on its node writes the files to the same volume.`;
  return waiting('HubNotReady', message, POD_NOT_READY_REQUEUE, pending);
}

/** @param key the key that the Secret does not have; undefined if there is no Secret */
export function noToken(secret: string, key: string | undefined): Outcome {
  const problem = key === undefined ? 'does not exist: create it.' : `has no key ${key}: add it.`;
  const message = `The Secret ${secret} in tokenSecretRef ${problem}`;
  return waiting(key === undefined ? 'SecretNotFound' : 'KeyNotFound', message, DEPENDENCY_REQUEUE, pending);
}

const pending = { status: { phase: 'Pending' } };
const installingPhase = { status: { phase: 'Installing' } };
const failedPhase = { status: { phase: 'Failed' } };

export const downloading = ({ repository, ref }: HubCommunityRepositorySpec): Outcome =>
  waiting('Downloading', `${repository} is being downloaded at ${ref} and checked.`, DEPENDENCY_REQUEUE, {
    status: { phase: 'Validating' },
  });

export function preparationFailed({ error, retryAfter }: Preparation & { type: 'failed' }): Outcome {
  if (error instanceof TargetTaken) return stalled('DuplicateId', error.message, failedPhase);
  if (error instanceof DigestMismatch) return stalled('DigestMismatch', error.message, failedPhase);
  if (error instanceof InstallRejected) return installFailed(error.message, retryAfter ?? DEPENDENCY_REQUEUE);
  if (!(error instanceof DownloadFailed)) return stalled('InvalidRepository', error.message, failedPhase);
  if (error.isTransient)
    return waiting('DownloadFailed', error.message, retryAfter ?? DEPENDENCY_REQUEUE, failedPhase);
  const after = retryAfter === undefined ? {} : { after: retryAfter };
  return stalled('DownloadFailed', error.message, { ...failedPhase, ...after });
}

/**
 * The outcome of a repository that the administrator does not allow. Nothing is downloaded. An installed
 * version stays, since the hub might not start without its files.
 */
export function notAllowed(repository: string): Outcome {
  const message = `The operator may not install spec.repository ${repository}: its setting COMMUNITY_REPOSITORIES does not list it. Ask who administers the operator.`;
  return stalled('RepositoryNotAllowed', message, failedPhase);
}

/** @param detail the reason why the pod waits, if any */
export function installing(target: string, detail?: string): Outcome {
  const waits = detail === undefined ? '' : ` It waits: ${detail}`;
  const message = `A pod on the node of the hub writes the files to /config/${target}.${waits}`;
  return waiting('Installing', message, INSTALLER_POLL, installingPhase);
}

/** The outcome when the pod has written the files and the hub has not loaded them yet. */
export const installed = (record: InstallationRecord): Outcome =>
  waiting('Installing', `The files are in /config/${record.target}, and the hub loads them.`, NEXT_STEP, {
    status: { phase: 'Installing', ...record },
  });

export function conflict(words: string, after: number): Outcome {
  const message = `${words}. Nothing was changed: rename or delete it there.`;
  return stalled('NameConflict', message, { after, ...failedPhase });
}

export function installFailed(words: string, after: number): Outcome {
  const message = `The files could not be put onto the volume: ${words.replace(/\.$/, '')}. It is tried again.`;
  return waiting('InstallFailed', message, after, failedPhase);
}

export function restartPending(target: string): Outcome {
  const message = `The files are in /config/${target}. The hub is being restarted to load them.`;
  return waiting('RestartPending', message, API_NOT_LOADED_REQUEUE, installingPhase);
}

export const notLoaded = (message: string): Outcome =>
  stalled('NotLoaded', message, { after: DOWNLOAD_REJECTED_RETRY, ...failedPhase });

/** @param fields fields of status besides the phase */
const removal = (message: string, after: number, fields: Outcome['status'] = {}): Waiting =>
  waiting('Removing', message, after, { status: { phase: 'Removing', ...fields } });

const UNKNOWN_VERSION = { installedVersion: null };

const removingMessage = (target: string): string =>
  `A pod on the node of the hub removes the files from /config/${target}.`;

const handOverMessage = (target: string): string =>
  `The files in /config/${target} stay for another resource, which gets them when the pod that writes files has ended.`;

/** @param rejection a sentence with the reason why the pod cannot be created, if so */
export function removing(target: string, rejection?: string): Waiting {
  const problem = rejection === undefined ? '' : ` It cannot be created: ${rejection}`;
  return removal(`${removingMessage(target)}${problem}`, INSTALLER_POLL);
}

/** @param after milliseconds for which another resource may still ask for the repository, as after a rename in Git */
export const awaitingSuccessor = (target: string, after: number): Waiting =>
  removal(`The files in /config/${target} are about to be removed.`, after);

/** The result when a pod begins to remove the files: a resource that gets the rest has to install them again. */
export const removalBegun = (target: string): Waiting =>
  removal(removingMessage(target), INSTALLER_POLL, UNKNOWN_VERSION);

export const handingOver = (target: string): Waiting => removal(handOverMessage(target), INSTALLER_POLL);

/** The result when a pod has written files that status does not show yet, and that pass to another resource. */
export const handingOverNew = (record: InstallationRecord): Waiting =>
  removal(handOverMessage(record.target), NEXT_STEP, { ...record });

/** The result when a pod that wrote files has failed or is ended: the resource that gets them installs them again. */
export const handingOverUnknown = (target: string): Waiting =>
  removal(handOverMessage(target), NEXT_STEP, UNKNOWN_VERSION);

/** The result when the pod has removed the files. Status must record this before the Hub reads it. */
export const removed = (): Waiting =>
  removal('The files are removed.', NEXT_STEP, {
    installedRepository: null,
    installedVersion: null,
    target: null,
    digest: null,
    activeDigest: null,
    claimUID: null,
    installationID: null,
  });

/**
 * The result when an installation ended after the deletion of the resource: its files have to be removed too.
 */
export const installedMeanwhile = (target: string): Waiting =>
  removal('The files of the last installation are removed.', NEXT_STEP, { target });
