import { type CoreConfig, getConfig } from '../../../client/core';
import { HubError } from '../../../client/errors';
import type { HubClient } from '../../../client/hub-client';
import type { Hub } from '../../../kinds/index';
import { HEALTH_CHECK_INTERVAL, HEALTH_CHECK_TIMEOUT } from '../../../limits';
import { Timer } from '../../../timer';
import type { Services } from '../../services';
import { objectKeyOf } from '../../../runtime/object-key';

/**
 * Watches over hubs between passes: it asks each for its configuration every few seconds, with our token, and works
 * the Hub as soon as the answer is another one. That shows within seconds what nothing else would: a ban and a
 * revoked token (an open WebSocket goes on), a hub that hangs, one that came back in recovery mode.
 */
export class HealthMonitor {
  private readonly cancels = new Map<string, () => void>();

  /** @param onGone called when a watched Hub has been deleted */
  constructor(
    private readonly services: Pick<Services, 'clock' | 'cache' | 'requeue'>,
    private readonly onGone: (hub: Hub) => void,
  ) {}

  /** Watches a hub from now on, whose last answer gave `sign` (see {@link stateFingerprint}). */
  watch(hub: Hub, client: HubClient, fingerprint: string): void {
    const { namespace, name } = hub.metadata;
    this.cancels.get(objectKeyOf(hub))?.();
    const check = async () => {
      if (this.services.cache.get<Hub>('Hub', namespace, name)?.metadata.uid !== hub.metadata.uid)
        return this.forget(hub);
      const seen = await getConfig(client.rest, { timeout: HEALTH_CHECK_TIMEOUT }).then(
        stateFingerprint,
        stateFingerprint,
      );
      if (cancelled) return;
      // That pass goes on watching; where it does not come that far, somebody still has to notice that the Hub goes.
      if (seen !== expected) this.services.requeue('Hub', namespace, name);
      expected = seen;
      scheduleCheck();
    };
    let expected = fingerprint;
    let cancelled = false;
    const timer = new Timer(this.services.clock);
    const scheduleCheck = () => timer.set(HEALTH_CHECK_INTERVAL, () => void check());
    this.cancels.set(objectKeyOf(hub), () => {
      cancelled = true;
      timer.clear();
    });
    scheduleCheck();
  }

  close(): void {
    for (const cancel of this.cancels.values()) cancel();
    this.cancels.clear();
  }

  private forget(hub: Hub): void {
    this.cancels.delete(objectKeyOf(hub));
    this.onGone(hub);
  }
}

/** What of an answer, or of its failure, a Hub's status depends on. */
export function stateFingerprint(answer: unknown): string {
  if (answer instanceof HubError) return answer.name;
  if (answer instanceof Error) throw answer;
  if (typeof answer !== 'object' || answer === null) return 'odd';
  const { version, state, recovery_mode: recovery, safe_mode: safe } = answer as CoreConfig;
  return JSON.stringify([version, state, recovery, safe]);
}
