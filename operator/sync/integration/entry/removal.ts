import { HubFailed, HubRejected } from '../../../client/errors';
import type { HubClient } from '../../../client/hub-client';
import type { Clock } from '../../../clock';
import { errorOf } from '../../../errors';
import { FINALIZER_TRY } from '../../../limits';
import type { HubContext, IntegrationResource, Removal } from '../hub-context';

/**
 * Removes an entry. False: not done yet, since unloading it takes long.
 *
 * @param next is done after it
 * @throws the error that the removal ended with; HubUnreachable if the hub no longer answers
 */
export async function ensureRemoved(
  {
    client,
    clock,
    hub,
    resource,
  }: {
    readonly client: HubClient;
    readonly clock: Clock;
    readonly hub: HubContext;
    readonly resource: IntegrationResource;
  },
  entryId: string,
  next: () => Promise<void> = () => Promise.resolve(),
): Promise<boolean> {
  const cached = hub.of(resource);
  if (cached.removal?.entryId !== entryId) {
    const removal: Removal = { entryId, startedAt: clock.monotonic() };
    cached.removal = removal;
    void client.configEntries
      .remove(entryId)
      .then(next)
      .then(() => undefined, errorOf)
      .then((error) => {
        removal.end = { error };
        hub.requeue(resource);
      });
    return false;
  }
  const { end, startedAt } = cached.removal;
  if (!end) {
    // A hub that answers this request is only busy.
    if (clock.monotonic() - startedAt >= FINALIZER_TRY)
      await client.rest.get('/manifest.json', { token: null, timeout: FINALIZER_TRY });
    return false;
  }
  cached.removal = undefined;
  // Rejected, but not what the spec asks for: the removal is tried again.
  if (end.error instanceof HubRejected)
    throw new HubFailed(`cannot remove the entry ${entryId}: ${end.error.message}`);
  if (end.error) throw end.error;
  return true;
}
