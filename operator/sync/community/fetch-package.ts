import type { Clock } from '../../base/clock';
import type { HubCommunityRepositorySpec } from '../../kinds';
import { readArchive } from './archive';
import { type Download, downloadArchive, downloadAttachment, DownloadFailed } from './download';
import { unpack } from './layout';
import type { RepositoryPackage } from './repository-package';

export interface Source extends Download {
  readonly category: HubCommunityRepositorySpec['category'];
}

/**
 * Downloads a repository, or the asset of its release, checks it and unpacks the files to install. At most one archive
 * is in memory at a time.
 *
 * @throws DownloadFailed, RepositoryRefused, or the reason of `signal`
 */
export async function fetchPackage(
  clock: Clock,
  source: Source,
  signal: AbortSignal,
): Promise<RepositoryPackage> {
  const { category, ref, repository } = source;
  const [, name = ''] = repository.split('/');
  const archive = async () => readArchive(await downloadArchive(clock, source, signal));
  const found = await unpack(await archive(), category, name);
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
