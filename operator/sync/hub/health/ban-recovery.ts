import { timestamp } from '../../../clock';
import type { Hub } from '../../../kinds/index';
import type { Reason } from '../../../kinds/reasons';
import { objectNames } from '../../../kinds/object-names';
import {
  BAN_COOLDOWN,
  BAN_RESTARTS,
  BAN_WINDOW,
  DEPENDENCY_REQUEUE,
  POD_NOT_READY_REQUEUE,
} from '../../../limits';
import { pathOf } from '../../../runtime/objects';
import { type ConditionValue, type Outcome, type Stalled, stalled, waiting } from '../../../runtime/outcome';
import { conditionOf } from '../../../runtime/conditions';
import { isConflict, isNotFound } from '../../../runtime/api-client';
import { builtin } from '../../../runtime/types';
import type { Services } from '../../services';
import { type BanHistory, banHistoryOf, banStatus, decideBanRestart } from './ban-window';
import { PerHub } from '../per-hub';
import type { Pod } from './pod-state';
import { NOT_BANNED, UNBAN_CONTAINER } from '../workload/init-scripts';
import type { HubContext } from '../steps';

const WINDOW_MINUTES = BAN_WINDOW / 60_000;

/**
 * "Ban self-recovery" (spec.md): a hub that has banned the operator is restarted, and the init container
 * `unban-operator-ip` takes the operator's address out of its bans. A restart is counted in the status before the pod
 * is deleted: a crash in between costs a restart, never one too many.
 */
export class BanRecovery {
  /** The uid of the pod whose restart is counted, and the time by which the status shows that. */
  private readonly pendingRestart: PerHub<{ readonly pod: string; readonly at: string | undefined }>;

  constructor(private readonly services: Services) {
    this.pendingRestart = new PerHub(services.cache);
  }

  /** The hub refuses our address: `words` says so. */
  async recover(context: HubContext, words: string): Promise<Outcome> {
    const { hub, spec } = context;
    const { podIp } = this.services.settings;
    if (!spec.banRecovery.enabled) {
      const message = `${words}. banRecovery.enabled is false: ${MANUAL_STEPS}`;
      // What it said when it was on is no news any more.
      const conditions = { BanRecoveryFailed: null };
      return waiting('HubBanned', message, DEPENDENCY_REQUEUE, { ...phaseUnknown, conditions });
    }
    if (!podIp)
      return stopped(context, 'RestartDidNotHelp', `The operator does not know its POD_IP: ${MANUAL_STEPS}`);
    const pod = this.podOf(hub);
    if (!pod || pod.metadata.deletionTimestamp) return this.restarting(words);
    const pendingRestart = this.pendingRestart.get(hub);
    // The write of that status may have failed.
    if (pendingRestart?.pod === pod.metadata.uid && pendingRestart?.at === hub.status?.lastSelfUnban)
      return this.deletePod(context, pod, words);

    const history = banHistoryOf(hub.status ?? {});
    const verdict = restartIneffective(pod, history);
    if (verdict) {
      const message = `The restart did not help: ${verdict}. The hub sees the operator under another address: ${MANUAL_STEPS}`;
      return stopped(context, 'RestartDidNotHelp', message);
    }
    const decision = decideBanRestart(history, this.services.clock.now());
    switch (decision.type) {
      case 'cooldown':
        return this.inCooldown(words, history, decision.after);
      case 'exhausted': {
        const message = `${BAN_RESTARTS} restarts in ${WINDOW_MINUTES} minutes did not help: ${MANUAL_STEPS}`;
        return { ...stopped(context, 'RestartLimitExceeded', message), after: decision.after };
      }
      case 'restart': {
        const { lastSelfUnban: at } = banStatus(decision.history);
        this.pendingRestart.set(hub, { pod: pod.metadata.uid!, at });
        return this.scheduleRestart(decision.history, words);
      }
    }
  }

  /** The hub answered to our token: the window is over, the cooldown is not. */
  authenticated({ hub, status, conditions }: HubContext): void {
    this.pendingRestart.delete(hub);
    status['banWindow'] = null;
    conditions['BanRecoveryFailed'] = null;
  }

  private scheduleRestart(history: BanHistory, words: string): Outcome {
    const { restarts } = history.window!;
    const message = `${words}: it is restarted without the ban on ${this.services.settings.podIp} (${restarts} of ${BAN_RESTARTS} in ${WINDOW_MINUTES} minutes).`;
    return waiting('HubBanned', message, 0, {
      status: { phase: 'Unknown', ...banStatus(history) },
      conditions: { BanRecoveryFailed: recovering(message) },
      events: [{ type: 'Warning', reason: 'SelfUnban', message }],
    });
  }

  private async deletePod(
    { hub, reconcile }: HubContext,
    { metadata: { name, uid } }: Pod,
    words: string,
  ): Promise<Outcome> {
    this.pendingRestart.delete(hub);
    reconcile.log.warn({ pod: name }, 'deleting the pod of the hub: it has banned the operator');
    try {
      await this.services.cluster.request({
        method: 'DELETE',
        path: pathOf(builtin.Pod, hub.metadata.namespace, name),
        body: { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid } },
      });
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error)) throw error; // somebody else was faster
    }
    return this.restarting(words);
  }

  private restarting(words: string): Outcome {
    const message = `${words}: it is being restarted without the ban.`;
    return waiting('HubBanned', message, POD_NOT_READY_REQUEUE, {
      ...phaseUnknown,
      conditions: { BanRecoveryFailed: recovering(message) },
    });
  }

  private inCooldown(words: string, { lastRestart = 0 }: BanHistory, after: number): Outcome {
    const next = timestamp(lastRestart + BAN_COOLDOWN);
    const message = `${words}. It was restarted for that at ${timestamp(lastRestart)}; the next restart is at ${next} at the earliest.`;
    return waiting('HubBanned', message, after, {
      ...phaseUnknown,
      conditions: { BanRecoveryFailed: recovering(message) },
    });
  }

  private podOf({ metadata: { namespace, name } }: Hub): Pod | undefined {
    return this.services.cache.get<Pod>(builtin.Pod.kind, namespace, objectNames(name).pod);
  }
}

const MANUAL_STEPS =
  'take the address of the operator out of ip_bans.yaml on the volume and restart the hub.';
const phaseUnknown = { status: { phase: 'Unknown' } };

const recovering = (message: string): ConditionValue => ({ status: 'False', reason: 'Recovering', message });

/**
 * What the present pod said at its start, when it was made by a restart of ours that cannot have helped: our address
 * was not among the bans. Undefined: no such pod.
 */
function restartIneffective(
  { metadata, status }: Pod,
  { lastRestart, window }: BanHistory,
): string | undefined {
  // A success since then would have closed the window.
  if (!window || lastRestart === undefined || Date.parse(metadata.creationTimestamp ?? '') < lastRestart)
    return undefined;
  const said = status?.initContainerStatuses?.find(({ name }) => name === UNBAN_CONTAINER)?.state?.terminated
    ?.message;
  return said?.includes(NOT_BANNED) ? said.trim() : undefined;
}

/** "No more restarts; manual recovery required." */
function stopped({ hub }: HubContext, reason: Reason, message: string): Stalled {
  const news = conditionOf(hub, 'BanRecoveryFailed')?.status !== 'True';
  return stalled('HubBanned', message, {
    status: { phase: 'Failed' },
    conditions: { BanRecoveryFailed: { status: 'True', reason, message } },
    events: news ? [{ type: 'Warning', reason: 'BanRecoveryFailed', message }] : [],
  });
}
