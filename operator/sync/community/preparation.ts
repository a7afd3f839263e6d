import { OperationalError, shownMessage } from '../../base/errors';
import type { HubCommunityRepositorySpec, ResourceMetadata } from '../../kinds';
import { readArchive } from './archive';
import { type Download, downloadArchive, downloadAttachment, DownloadFailed } from './download';
import { unpack } from './layout';
import type { RepositoryPackage } from './repository-package';
import { DOWNLOAD_REJECTED_RETRY, DOWNLOAD_RETRY } from '../../base/limits';
import { Operation } from '../objects/operation';
import type { Services } from '../services';
import { FairQueue } from './fair-queue';
import { InstallRejected, RepositoryRefused } from './errors';

export interface Source extends Download {
  readonly category: HubCommunityRepositorySpec['category'];
}

/**
 * Downloads a repository, or the asset of its release, checks it and unpacks the files to install. At most
 * one archive is in memory at a time.
 *
 * @throws DownloadFailed, RepositoryRefused, or the reason of `signal`
 */
export async function fetchPackage(
  { clock, texts }: Pick<Services, 'clock' | 'texts'>,
  source: Source,
  signal: AbortSignal,
) {
  const { category, ref, repository } = source;
  const [, name = ''] = repository.split('/');
  const archive = async () => readArchive(await downloadArchive(clock, source, signal));
  const found = await unpack(await archive(), category, name, texts);
  if (!('attachments' in found)) return found;
  for (const attachment of found.attachments) {
    const content = await downloadAttachment(clock, source, attachment, signal);
    if (content) return found.unpack(attachment, content);
  }
  const inRepository = await found.unpackRepository?.(await archive());
  if (inRepository && !('attachments' in inRepository)) return inRepository;
  throw new DownloadFailed(
    `${found.why}, and the release ${ref} has no such attachment: set spec.ref to the tag of a release that has it.`,
    false,
  );
}

/** The state of a download and its checks. */
export type Preparation =
  | { readonly type: 'running' }
  | { readonly type: 'ready'; readonly package: RepositoryPackage }
  | { readonly type: 'failed'; readonly error: Failure; readonly retryAfter?: number | undefined };

type Failure = RepositoryRefused | DownloadFailed;

interface Entry {
  /** Identifies the request. */
  readonly key: string;
  readonly operation: Operation<RepositoryPackage>;
  state: Preparation;
  /** Monotonic time until which a failure is remembered. */
  until: number;
}

/**
 * Downloads and checks repositories in the background. Since an archive and its files are in memory during
 * this, only one is handled at a time, and the namespaces take turns. A refusal is remembered, so that a
 * resync downloads nothing.
 */
export class Preparations {
  private readonly entries = new Map<string, Entry>();
  private readonly queue = new FairQueue();
  private closed = false;

  constructor(private readonly services: Pick<Services, 'clock' | 'texts'>) {}

  /**
   * The state of the preparation for a resource. If there is none, or one with another `key`, a download
   * starts.
   */
  prepare(
    { uid, namespace }: Pick<ResourceMetadata, 'uid' | 'namespace'>,
    key: string,
    source: Source,
    onEnd: () => void,
  ): Preparation {
    const present = this.entries.get(uid);
    if (present?.key === key && present.until > this.services.clock.monotonic()) return present.state;
    this.forget(uid);
    const operation = new Operation<RepositoryPackage>(this.services.clock);
    const entry: Entry = { key, operation, state: { type: 'running' }, until: Infinity };
    if (this.closed) return entry.state;
    this.entries.set(uid, entry);
    const fetch = async () => {
      operation.signal.throwIfAborted();
      return fetchPackage(this.services, source, operation.signal);
    };
    operation.start(
      () => this.queue.run(namespace, fetch),
      () => {
        this.take(entry);
        onEnd();
      },
    );
    return entry.state;
  }

  /** Records that a downloaded repository cannot be installed, and drops its files. */
  refuse(uid: string, error: RepositoryRefused): Preparation & { readonly type: 'failed' } {
    const entry = this.entries.get(uid);
    return entry ? this.fail(entry, error) : { type: 'failed', error };
  }

  /** Aborts a download, and forgets its files or its failure. */
  forget(uid: string): void {
    this.entries.get(uid)?.operation.stop();
    this.entries.delete(uid);
  }

  /** Drops files that cannot be installed now. A failure stays recorded. */
  forgetFiles(uid: string): void {
    if (this.entries.get(uid)?.state.type === 'ready') this.forget(uid);
  }

  close(): void {
    this.closed = true;
    for (const uid of [...this.entries.keys()]) this.forget(uid);
  }

  /** Takes over the end of the operation. */
  private take(entry: Entry): void {
    const { end, error, signal } = entry.operation;
    if (end?.type === 'completed') entry.state = { type: 'ready', package: end.result };
    if (!error || signal.aborted) return;
    const known = error instanceof RepositoryRefused || error instanceof DownloadFailed;
    // A bug in reading an archive must neither end the operator nor be repeated endlessly.
    if (known) this.fail(entry, error);
    else if (error instanceof OperationalError)
      this.fail(entry, new DownloadFailed(`The archive cannot be read now: ${error.message}.`, true));
    else this.fail(entry, new RepositoryRefused(`The archive cannot be read. ${shownMessage(error)}`));
  }

  private fail(entry: Entry, error: Failure) {
    const retryAfter = retryOf(error);
    const state = { type: 'failed', error, retryAfter } as const;
    entry.state = state;
    entry.until = this.services.clock.monotonic() + (retryAfter ?? Infinity);
    return state;
  }
}

/**
 * Milliseconds until another attempt. None for a faulty archive, whose content does not change. Responses of
 * the code host and quotas may change.
 */
function retryOf(error: Failure): number | undefined {
  if (error instanceof InstallRejected) return DOWNLOAD_REJECTED_RETRY;
  if (error instanceof RepositoryRefused) return undefined;
  return error.isTransient ? DOWNLOAD_RETRY : DOWNLOAD_REJECTED_RETRY;
}
