import { HubFailed, HubNotRunning, HubRejected } from '../../client/connection/errors';
import type { HubClient } from '../../client/hub-client';
import type { CustomResource } from '../../kinds/resource';
import { conditionOf } from '../../runtime/conditions';
import type { Outcome } from '../../runtime/outcome';
import { hubErrorOutcome } from './hub-errors';

/**
 * Runs a reconcile of a resource against a hub that has started completely. A failure while the hub stops,
 * starts or is restarted says nothing about the resource, which then waits for the hub (rules.md, "Waiting is
 * not an error").
 *
 * @throws HubNotRunning the hub is not running, or has restarted during the reconcile; other errors as
 * `reconcile`
 */
export async function whileRunning(
  { presence }: Pick<HubClient, 'presence'>,
  resource: CustomResource,
  reconcile: () => Promise<Outcome>,
): Promise<Outcome> {
  // Read before the first request, since the hub may be another process as soon as it has answered.
  const { epoch } = presence;
  if (!(await presence.isRunning())) throw new HubNotRunning();
  try {
    const outcome = await reconcile();
    if (!isNewFailure(resource, outcome) || (await presence.hasRunSince(epoch))) return outcome;
    const { status } = outcome;
    if (!status) throw new HubNotRunning();
    return hubErrorOutcome(new HubNotRunning(), 'object', { status }); // the status records writes that were made
  } catch (error) {
    const isByHub = error instanceof HubRejected || error instanceof HubFailed;
    if (isByHub && !(await presence.hasRunSince(epoch))) throw new HubNotRunning();
    throw error;
  }
}

/**
 * Reports whether the outcome is a new failure. A failure that is already in status came from a running hub.
 */
function isNewFailure(resource: CustomResource, { type, reason }: Outcome): boolean {
  return type === 'Stalled' && conditionOf(resource, 'Stalled')?.reason !== reason;
}
