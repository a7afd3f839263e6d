import { HubFailed, HubNotRunning, HubRejected } from '../../client/connection/errors';
import type { HubClient } from '../../client/hub-client';
import type { CustomResource } from '../../kinds/resource';
import { conditionOf } from '../../runtime/conditions';
import type { Outcome } from '../../runtime/outcome';
import { hubErrorOutcome } from './hub-errors';

/**
 * Runs a reconcile of a resource against a hub that has started completely. What fails while the hub stops, starts or is
 * restarted says nothing of the resource: it waits for the hub (rules.md, "Waiting is not an error").
 *
 * @throws HubNotRunning; otherwise as `reconcile`
 */
export async function whileRunning(
  { presence }: Pick<HubClient, 'presence'>,
  resource: CustomResource,
  reconcile: () => Promise<Outcome>,
): Promise<Outcome> {
  const { epoch } = presence; // before the hub is asked: it may be another process as soon as it has answered
  if (!(await presence.isRunning())) throw new HubNotRunning();
  try {
    const outcome = await reconcile();
    if (!isNewFailure(resource, outcome) || (await presence.hasRunSince(epoch))) return outcome;
    const { status } = outcome;
    if (!status) throw new HubNotRunning();
    return hubErrorOutcome(new HubNotRunning(), 'object', { status }); // what status records has happened
  } catch (error) {
    const isByHub = error instanceof HubRejected || error instanceof HubFailed;
    if (isByHub && !(await presence.hasRunSince(epoch))) throw new HubNotRunning();
    throw error;
  }
}

/** A failure that status has already was one of a hub that ran. */
function isNewFailure(resource: CustomResource, { type, reason }: Outcome): boolean {
  return type === 'Stalled' && conditionOf(resource, 'Stalled')?.reason !== reason;
}
