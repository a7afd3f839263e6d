import type { Hub, HubConfiguration } from '../../kinds';
import { conditionOf } from '../../runtime/conditions';
import type { Services } from '../services';
import { isRestartBegun } from './record/publish';

/**
 * With these the Hub may not write its pod template: `InvalidSpec` can be of another object, such as the Ingress. With all
 * others it goes on, and the restart begins after its debounce.
 */
const HOLDING: ReadonlySet<string> = new Set(['InvalidSpec', 'DowngradeRefused']);

/**
 * The reason in the conditions of the Hub that keeps a decided restart from its beginning. Undefined: it has begun, or
 * begins by itself.
 */
export function restartHeldBy(
  services: Pick<Services, 'cache'>,
  resource: HubConfiguration,
  hub: Hub,
): string | undefined {
  if (isRestartBegun(services, resource)) return undefined;
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
