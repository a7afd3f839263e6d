import type { Hub } from '../../../kinds';
import { conditionOf } from '../../../runtime/conditions';

/** The reason for which the Hub cannot begin with a restart. Undefined: a restart begins by itself. */
export function restartHeldBy(hub: Hub): string | undefined {
  const [ready, suspended] = ['Ready', 'Suspended'].map((type) => conditionOf(hub, type));
  if (suspended) return suspended.reason;
  return ready?.reason === 'DryRun' ? ready.reason : hub.status?.restartHeld;
}
