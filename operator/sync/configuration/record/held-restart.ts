import type { Hub } from '../../../kinds';
import { conditionOf } from '../../../runtime/conditions';

/**
 * With these the Hub may not write its pod template: `InvalidSpec` can be of another object, such as the Ingress. With all
 * others it goes on, and a restart begins after its debounce.
 */
const HOLDING: ReadonlySet<string> = new Set(['InvalidSpec', 'DowngradeRefused']);

/** The reason for which the Hub cannot begin with a restart. Undefined: a restart begins by itself. */
export function restartHeldBy(hub: Hub): string | undefined {
  const [ready, suspended, stalled] = ['Ready', 'Suspended', 'Stalled'].map((type) => conditionOf(hub, type));
  if (suspended) return suspended.reason;
  if (ready?.reason === 'DryRun') return ready.reason;
  if (!stalled) return undefined;
  return HOLDING.has(stalled.reason) || isClaimConflict(hub, stalled) ? stalled.reason : undefined;
}

/** `NameConflict` of an Ingress holds nothing back; that of the claim is in `StorageReady` as well. */
function isClaimConflict(
  hub: Hub,
  { reason, message }: { readonly reason: string; readonly message: string },
) {
  const storage = conditionOf(hub, 'StorageReady');
  return reason === 'NameConflict' && storage?.status === 'False' && message.startsWith(storage.message);
}
