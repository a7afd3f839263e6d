import { timestamp } from '../../../base/clock';
import type { Hub } from '../../../kinds/index';
import type { Reason } from '../../../kinds/reasons';
import { objectNames } from '../../../kinds/object-names';
import {
  BAN_COOLDOWN,
  BAN_RESTARTS,
  BAN_WINDOW,
  DEPENDENCY_REQUEUE,
  POD_NOT_READY_REQUEUE,
} from '../../../base/limits';
import { pathOf } from '../../../runtime/objects';
import { type ConditionValue, type Outcome, type Stalled, stalled, waiting } from '../../../runtime/outcome';
import { conditionOf } from '../../../runtime/conditions';
import { isConflict, isNotFound } from '../../../runtime/api-errors';
import { builtin } from '../../../runtime/types';
import type { Services } from '../../services';
import { type BanHistory, banHistoryOf, banStatus, decideBanRestart } from './ban-window';
import { PerHub } from '../../hub-access/per-hub';
import type { Pod } from '../../hub-workload/pod';
import { stuckPod } from './stuck-pod';
import { unbanReport } from '../../hub-workload/termination-messages';
import type { HubContext } from '../steps';

const WINDOW_MINUTES = BAN_WINDOW / 60_000;
/** A hub that does not respond for longer after its restart has another fault. */
const RESTART_DURATION = 2 * 60_000;
/** Times of objects are whole seconds, rounded down, and `lastSelfUnban` is rounded up: a quick restart seems older. */
const TIME_RESOLUTION = 2_000;

/**
 * Restarts a hub that has banned the operator; the init container `unban-operator-ip` then removes the operator's
 * address from its bans (rules.md, "Ban recovery"). A restart is counted in status before the pod is deleted, so that a
 * crash in between costs one restart and never adds one.
 */
export class BanRecovery {
  /** A restart that is counted and not done: the uid of its pod, and `lastSelfUnban` once the status has the count. */
  private readonly pendingRestart: PerHub<{ readonly pod: string; readonly at: string | undefined }>;

  constructor(private readonly services: Pick<Services, 'clock' | 'cluster' | 'settings' | 'cache'>) {
    this.pendingRestart = new PerHub(services.cache);
  }

  /** @param ban the message of the ban that was met */
  async recover(context: HubContext, ban: string): Promise<Outcome> {
    const { hub, spec } = context;
    const { podIp } = this.services.settings;
    if (!spec.banRecovery.enabled) {
      const message = `${sentence(ban)} banRecovery.enabled is false: ${manualSteps(podIp)}`;
      // A failure from before it was switched off is outdated.
      const conditions = { BanRecoveryFailed: null };
      return waiting('HubBanned', message, DEPENDENCY_REQUEUE, { ...phaseUnknown, conditions });
    }
    if (!podIp) {
      const message = `${sentence(ban)} The operator does not know its own address, because POD_IP is not set: ${manualSteps(podIp)}`;
      return stopped(context, 'OperatorAddressUnknown', message);
    }
    const pod = this.podOf(hub);
    if (!pod || pod.metadata.deletionTimestamp) return this.restarting(ban, pod);
    const pendingRestart = this.pendingRestart.get(hub);
    // Not before the status has it: that write may have failed.
    if (pendingRestart?.pod === pod.metadata.uid && pendingRestart?.at === hub.status?.lastSelfUnban)
      return this.deletePod(context, pod, ban);

    const history = banHistoryOf(hub.status ?? {});
    const ineffective = restartIneffective(pod, history);
    if (ineffective) {
      const message = `The restart did not lift the ban: ${ineffective}. The hub sees the operator under another address than ${podIp}: ${manualSteps('that address')}`;
      return stopped(context, 'RestartDidNotHelp', message);
    }
    const decision = decideBanRestart(history, this.services.clock.now());
    switch (decision.type) {
      case 'cooldown':
        return this.inCooldown(ban, history, decision.after);
      case 'exhausted': {
        const message = `${BAN_RESTARTS} restarts in ${WINDOW_MINUTES} minutes did not lift the ban on ${podIp}: ${manualSteps(podIp)}`;
        return { ...stopped(context, 'RestartLimitExceeded', message), after: decision.after };
      }
      case 'restart': {
        const { lastSelfUnban: at } = banStatus(decision.history);
        this.pendingRestart.set(hub, { pod: pod.metadata.uid!, at });
        return this.scheduleRestart(decision.history, ban);
      }
    }
  }

  /** The outcome for a hub that does not respond because it is being restarted; undefined: it is not. */
  restartInProgress(hub: Hub): Outcome | undefined {
    const { lastRestart, window } = banHistoryOf(hub.status ?? {});
    // An answer since then would have closed the window.
    const isRecent =
      window !== undefined && this.services.clock.now() - (lastRestart ?? -Infinity) < RESTART_DURATION;
    return isRecent ? this.restarting('the hub had banned the operator') : undefined;
  }

  /** The hub accepted the token: this ends the window, but not the cooldown. */
  recordAuthenticated({ hub, status, conditions }: HubContext): void {
    this.pendingRestart.delete(hub);
    status['banWindow'] = null;
    conditions['BanRecoveryFailed'] = null;
  }

  private scheduleRestart(history: BanHistory, ban: string): Outcome {
    const { restarts } = history.window!;
    const count = `restart ${restarts} of ${BAN_RESTARTS} in ${WINDOW_MINUTES} minutes`;
    const message = `${sentence(ban)} Restarting the hub to lift the ban on ${this.services.settings.podIp} (${count}).`;
    return waiting('HubBanned', message, 0, {
      status: { phase: 'Unknown', ...banStatus(history) },
      conditions: { BanRecoveryFailed: recovering(message) },
      events: [{ type: 'Warning', reason: 'SelfUnban', message }],
    });
  }

  private async deletePod(
    { hub, reconcile }: HubContext,
    { metadata: { name, uid } }: Pod,
    ban: string,
  ): Promise<Outcome> {
    this.pendingRestart.delete(hub);
    reconcile.log.warn({ pod: name }, 'deleting pod of hub that has banned the operator');
    try {
      await this.services.cluster.request({
        method: 'DELETE',
        path: pathOf(builtin.Pod, hub.metadata.namespace, name),
        body: { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid } },
      });
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error)) throw error; // the pod is gone already
    }
    return this.restarting(ban);
  }

  private restarting(ban: string, pod?: Pod): Outcome {
    const stuck = pod && stuckPod(pod, this.services.clock.now());
    const message = [
      sentence(ban),
      'The hub is being restarted to lift the ban.',
      ...(stuck ? [stuck] : []),
    ].join(' ');
    return waiting('HubBanned', message, POD_NOT_READY_REQUEUE, {
      ...phaseUnknown,
      conditions: { BanRecoveryFailed: recovering(message) },
    });
  }

  private inCooldown(ban: string, { lastRestart = 0 }: BanHistory, after: number): Outcome {
    const next = timestamp(lastRestart + BAN_COOLDOWN);
    const message = `${sentence(ban)} The hub was restarted for that at ${timestamp(lastRestart)}. The next restart is not before ${next}.`;
    return waiting('HubBanned', message, after, {
      ...phaseUnknown,
      conditions: { BanRecoveryFailed: recovering(message) },
    });
  }

  private podOf({ metadata: { namespace, name } }: Hub): Pod | undefined {
    return this.services.cache.get<Pod>(builtin.Pod.kind, namespace, objectNames(name).pod);
  }
}

const manualSteps = (address: string): string =>
  `remove ${address || 'the address of the operator'} from ip_bans.yaml on the volume and restart the hub.`;
const phaseUnknown = { status: { phase: 'Unknown' } };

/** An error's text as a sentence. */
const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

const recovering = (message: string): ConditionValue => ({ status: 'False', reason: 'Recovering', message });

/**
 * Why the last restart cannot have lifted the ban: the present pod reported at its start that the address was not among
 * the bans. Undefined: it reported no such thing.
 */
function restartIneffective(pod: Pod, { lastRestart, window }: BanHistory): string | undefined {
  // A success since then would have closed the window.
  if (!window || lastRestart === undefined) return undefined;
  if (Date.parse(pod.metadata.creationTimestamp ?? '') < lastRestart - TIME_RESOLUTION) return undefined;
  const report = unbanReport(pod);
  if (report?.result !== 'absent') return undefined;
  const others = report.banned.length > 0 ? `; banned are ${report.banned.join(', ')}` : '';
  return `${report.address} is not among the bans${others}`;
}

/** No more restarts: only a person can lift the ban. */
function stopped({ hub }: HubContext, reason: Reason, message: string): Stalled {
  const isNew = conditionOf(hub, 'BanRecoveryFailed')?.status !== 'True';
  return stalled('HubBanned', message, {
    status: { phase: 'Failed' },
    conditions: { BanRecoveryFailed: { status: 'True', reason, message } },
    events: isNew ? [{ type: 'Warning', reason: 'BanRecoveryFailed', message }] : [],
  });
}
