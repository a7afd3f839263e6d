import type { CoreConfig } from '../../client/connection/api-types';
import { getConfig } from '../../client/setup/core';
import { HubError } from '../../client/connection/errors';
import type { HubClient } from '../../client/hub-client';
import type { Hub } from '../../kinds/index';
import { HEALTH_CHECK_INTERVAL, HEALTH_CHECK_TIMEOUT } from '../../base/limits';
import { Timer } from '../../base/timer';
import type { Services } from '../services';

interface Watch {
  readonly hub: Hub;
  readonly client: HubClient;
  readonly timer: Timer;
  /** Fingerprint of the last answer, see {@link stateFingerprint}. */
  fingerprint: string;
}

/**
 * Polls hubs between reconciles: requests the configuration of each with the operator's token, and requeues
 * the Hub when the answer changes. Bans, revoked tokens, hangs and recovery mode are reported in time this
 * way (rules.md, "Health of a hub"), although an open WebSocket survives all of them.
 */
export class HealthMonitor {
  /**
   * Watches by the uid of their Hub. The watch of a deleted Hub ends even if another Hub of its name was
   * created.
   */
  private readonly watches = new Map<string, Watch>();

  constructor(private readonly services: Pick<Services, 'clock' | 'cache' | 'log' | 'requeue'>) {}

  /** Watches a hub from now on. An earlier watch of the same Hub ends. */
  watch(hub: Hub, client: HubClient, fingerprint: string): void {
    const { uid } = hub.metadata;
    this.watches.get(uid)?.timer.clear();
    const watch = { hub, client, fingerprint, timer: new Timer(this.services.clock) };
    this.watches.set(uid, watch);
    this.schedule(watch);
  }

  close(): void {
    for (const { timer } of this.watches.values()) timer.clear();
    this.watches.clear();
  }

  private schedule(watch: Watch): void {
    const { namespace, name } = watch.hub.metadata;
    const poll = () =>
      this.poll(watch).catch((error: unknown) => {
        this.services.log.error({ kind: 'Hub', namespace, name, error }, 'health check of hub failed');
        this.schedule(watch);
      });
    watch.timer.set(HEALTH_CHECK_INTERVAL, () => void poll());
  }

  private async poll(watch: Watch): Promise<void> {
    const { hub, client } = watch;
    const { namespace, name, uid } = hub.metadata;
    if (this.services.cache.get<Hub>('Hub', namespace, name)?.metadata.uid !== uid) {
      this.watches.delete(uid);
      return;
    }
    const options = { timeout: HEALTH_CHECK_TIMEOUT };
    const fingerprint = await getConfig(client.rest, options).then(stateFingerprint, stateFingerprint);
    if (this.watches.get(uid) !== watch) return;
    // The reconcile starts a new watch. If the reconcile ends before that, this watch still has to notice
    // that the Hub is deleted.
    if (fingerprint !== watch.fingerprint) this.services.requeue('Hub', namespace, name);
    watch.fingerprint = fingerprint;
    this.schedule(watch);
  }
}

/**
 * The parts of the hub's answer, or of its error, that the status of a Hub depends on.
 *
 * @throws the error, if it does not come from the hub
 */
export function stateFingerprint(answer: unknown): string {
  if (answer instanceof HubError) return answer.name;
  if (answer instanceof Error) throw answer;
  if (typeof answer !== 'object' || answer === null) return 'not an object';
  const { version, state, recovery_mode: recovery, safe_mode: safe } = answer as CoreConfig;
  return JSON.stringify([version, state, recovery, safe]);
}
