import type { Clock } from '../../../base/clock';
import { hubStartId } from '../../../client/setup/hub-start-id';
import type { EntityWork } from '../entity-type';
import type { MountedFiles } from './mounted-files';

/**
 * Records in which start of the hub a delivered payload is not loaded. With `autoReload: false`, the next
 * start counts as the reload.
 *
 * @param isWritten whether the files have the payload
 */
export async function followStart(
  { client, cached, hash }: Pick<EntityWork, 'client' | 'cached' | 'hash'>,
  files: Pick<MountedFiles, 'isRead'>,
  isWritten: boolean,
  clock: Clock,
): Promise<void> {
  const before = cached.waitsSince?.hash === hash ? cached.waitsSince : undefined;
  cached.waitsSince = isWritten ? before : undefined;
  if (!isWritten) return;
  const startId = await hubStartId(client.connection);
  if (!before) cached.waitsSince = { hash, startId };
  // A hub that has started with another configuration may not include the files.
  else if (before.startId !== startId && (await files.isRead(client)))
    cached.waitsSince = { hash, startId, endedAt: clock.monotonic() };
}
