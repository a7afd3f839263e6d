import { HubFailed, HubRejected } from '../../client/errors';
import type { HubClient } from '../../client/hub-client';

/**
 * Removes an entry in the course of a flow.
 *
 * @throws HubError but HubRejected, which would say that the hub rejects the flow: the pending flow stays in status, so
 * that the entry is not forgotten
 */
export async function removeEntry(
  { configEntries }: Pick<HubClient, 'configEntries'>,
  entryId: string,
): Promise<void> {
  try {
    await configEntries.remove(entryId);
  } catch (error) {
    if (!(error instanceof HubRejected)) throw error;
    throw new HubFailed(`cannot remove the entry ${entryId}: ${error.message}`);
  }
}
