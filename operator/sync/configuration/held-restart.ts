import type { Hub, HubConfiguration } from '../../kinds';
import { conditionOf } from '../../runtime/conditions';
import type { Services } from '../services';
import { isRestartBegun } from './publish';

/**
 * The reason in the status of the Hub that keeps a decided restart from its beginning. Undefined: it has begun, or
 * begins by itself.
 */
export function restartHeldBy(
  services: Pick<Services, 'cache'>,
  resource: HubConfiguration,
  hub: Hub,
): string | undefined {
  if (isRestartBegun(services, resource)) return undefined;
  const [ready, suspended] = ['Ready', 'Suspended'].map((type) => conditionOf(hub, type));
  if (suspended) return suspended.reason;
  return ready?.reason === 'DryRun' ? ready.reason : hub.status?.restartHeld;
}
