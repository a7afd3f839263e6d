import { POD_TERMINATION_REPORT } from '../../../base/limits';
import type { Pod } from '../../hub-workload/pod';

/**
 * The words about a pod that is being deleted and has not ended long after its grace period, and about what holds it;
 * undefined: it is not stuck.
 *
 * @param now in milliseconds since the epoch
 */
export function stuckPod({ metadata, status }: Pod, now: number): string | undefined {
  const { name, deletionTimestamp, finalizers = [] } = metadata;
  // The grace period is part of the time.
  const isStuck = now - Date.parse(deletionTimestamp ?? '') >= POD_TERMINATION_REPORT;
  if (!isStuck) return undefined;
  const running = (status?.containerStatuses ?? []).filter(({ state }) => state?.running);
  const holder =
    finalizers.length > 0
      ? `Its finalizers hold it: ${finalizers.join(', ')}. The controller that set them has to remove them.`
      : running.length > 0
        ? `Its node has not ended the container ${running.map((container) => container.name).join(', ')}.`
        : 'Its containers have ended, so its node may be unable to release a volume.';
  return `Pod ${name} should have ended at ${deletionTimestamp}. ${holder} Read its events, and those of its node.`;
}
