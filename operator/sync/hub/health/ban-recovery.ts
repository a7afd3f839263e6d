import { timestamp } from '../../../base/clock';
import type { Hub, HubStatus } from '../../../kinds';
import type { Reason } from '../../../kinds/reasons';
import {
  BAN_COOLDOWN,
  BAN_RESTARTS,
  BAN_WINDOW,
  DEPENDENCY_REQUEUE,
  POD_NOT_READY_REQUEUE,
} from '../../../base/limits';
import { condition, type Outcome, type Stalled, stalled, waiting } from '../../../runtime/outcome';
import { conditionOf } from '../../../runtime/conditions';
import type { Services } from '../../services';
import { PerHub } from '../../hub-connection/per-hub';
import { deletePod, type Pod, podOf } from '../../hub-pod/owned-objects';
import { stuckPod } from './pod-state';
import { unbanReport } from '../../hub-pod/termination-messages';
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
      const details = { status: { phase: 'Unknown' }, conditions };
      return waiting('HubBanned', message, DEPENDENCY_REQUEUE, details);
    }
    if (!podIp) {
      const message = `${sentence(ban)} The operator does not know its own address, because POD_IP is not set: ${manualSteps(podIp)}`;
      return stopped(context, 'OperatorAddressUnknown', message);
    }
    const pod = podOf(this.services, hub);
    if (!pod || pod.metadata.deletionTimestamp) return this.restarting(ban, pod);
    const pendingRestart = this.pendingRestart.get(hub);
    // Not before the status has it: that write may have failed.
    if (pendingRestart?.pod === pod.metadata.uid && pendingRestart?.at === hub.status?.lastSelfUnban) {
      this.pendingRestart.delete(hub);
      const fields = { pod: pod.metadata.name };
      context.reconcile.log.warn(fields, 'deleting pod of hub that has banned the operator');
      await deletePod(this.services, hub, pod);
      return this.restarting(ban);
    }
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
    return recovering(message, 0, {
      status: banStatus(history),
      events: [{ type: 'Warning', reason: 'SelfUnban', message }],
    });
  }

  private restarting(ban: string, pod?: Pod): Outcome {
    const stuck = pod && stuckPod(pod, this.services.clock.now());
    const restarting = 'The hub is being restarted to lift the ban.';
    const message = [sentence(ban), restarting, ...(stuck ? [stuck] : [])].join(' ');
    return recovering(message, POD_NOT_READY_REQUEUE);
  }

  private inCooldown(ban: string, { lastRestart = 0 }: BanHistory, after: number): Outcome {
    const next = timestamp(lastRestart + BAN_COOLDOWN);
    const message = `${sentence(ban)} The hub was restarted for that at ${timestamp(lastRestart)}. The next restart is not before ${next}.`;
    return recovering(message, after);
  }
}

const manualSteps = (address: string): string =>
  `remove ${address || 'the address of the operator'} from ip_bans.yaml on the volume and restart the hub.`;

/** The operator is about to lift the ban by a restart, or has begun it. */
const recovering = (
  message: string,
  after: number,
  { status, ...events }: Pick<Outcome, 'status' | 'events'> = {},
) =>
  waiting('HubBanned', message, after, {
    status: { phase: 'Unknown', ...status },
    conditions: { BanRecoveryFailed: condition('False', 'Recovering', message) },
    ...events,
  });

/** An error's text as a sentence. */
const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

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
    conditions: { BanRecoveryFailed: condition('True', reason, message) },
    events: isNew ? [{ type: 'Warning', reason: 'BanRecoveryFailed', message }] : [],
  });
}

/** The restarts that bans have caused. Times are milliseconds since the epoch. */
export interface BanHistory {
  /** Restarts of all time. */
  readonly count: number;
  readonly lastRestart?: number | undefined;
  /** Opened by a restart; closed by the first authenticated answer of the hub, or after BAN_WINDOW. */
  readonly window?: { readonly startedAt: number; readonly restarts: number } | undefined;
}

export type BanDecision =
  /** Restart now; `history` counts that restart. */
  | { readonly type: 'restart'; readonly history: BanHistory }
  /** The last restart is too recent. `after`: milliseconds. */
  | { readonly type: 'cooldown'; readonly after: number }
  /** The limit of this window is reached. `after`: milliseconds until the window ends. */
  | { readonly type: 'exhausted'; readonly after: number };

/**
 * Whether a hub that has banned the operator may be restarted (rules.md, "Ban recovery"). The cooldown is checked first
 * and no success shortens it. Otherwise a ban that the operator causes itself would restart the hub for ever.
 */
export function decideBanRestart({ count, lastRestart, window }: BanHistory, now: number): BanDecision {
  // A restart in the future means that the clock was set back; one far in the future is ignored.
  const inCooldown = lastRestart !== undefined && Math.abs(now - lastRestart) < BAN_COOLDOWN;
  if (inCooldown) return { type: 'cooldown', after: lastRestart + BAN_COOLDOWN - now };
  const open =
    window && Math.abs(now - window.startedAt) < BAN_WINDOW ? window : { startedAt: now, restarts: 0 };
  if (open.restarts >= BAN_RESTARTS) return { type: 'exhausted', after: open.startedAt + BAN_WINDOW - now };
  return {
    type: 'restart',
    history: { count: count + 1, lastRestart: now, window: { ...open, restarts: open.restarts + 1 } },
  };
}

/** The history in status, from which a restarted operator continues. */
export function banHistoryOf({ selfUnbanCount = 0, lastSelfUnban, banWindow }: HubStatus): BanHistory {
  const startedAt = time(banWindow?.startedAt);
  return {
    count: selfUnbanCount,
    lastRestart: time(lastSelfUnban),
    window: startedAt === undefined ? undefined : { startedAt, restarts: banWindow?.restarts ?? 0 },
  };
}

/** The history as fields of status. Times are rounded up to whole seconds, so that no cooldown ends early. */
export function banStatus({ count, lastRestart, window }: BanHistory) {
  return {
    selfUnbanCount: count,
    ...(lastRestart !== undefined && { lastSelfUnban: roundedUp(lastRestart) }),
    banWindow: window ? { startedAt: roundedUp(window.startedAt), restarts: window.restarts } : null,
  };
}

const roundedUp = (milliseconds: number): string => timestamp(milliseconds + 999);

function time(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Date.parse(text);
}
