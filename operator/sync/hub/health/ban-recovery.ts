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
import { isHeldNow } from '../../still-desired';
import { PerHub } from '../../hub-connection/per-hub';
import { deletePod, type Pod, podOf } from '../../hub-pod/owned-objects';
import { stuckPod } from './pod-state';
import type { Occupation, PodRestarts } from '../../hub-pod/pod-restarts';
import { unbanReport } from '../../hub-pod/termination-messages';
import type { HubContext } from '../steps';

const WINDOW_MINUTES = BAN_WINDOW / 60_000;
/**
 * Milliseconds for which a restarted hub is expected not to respond. If it takes longer, the hub has another
 * fault.
 */
const RESTART_DURATION = 2 * 60_000;
/**
 * Tolerance of a comparison of times: times of objects are rounded down to whole seconds and `lastSelfUnban`
 * is rounded up, so the pod of a quick restart seems older than the restart.
 */
const TIME_RESOLUTION = 2_000;

/**
 * Restarts a hub that has banned the operator. In the new pod the init container `unban-operator-ip` removes
 * the operator's address from the hub's bans (rules.md, "Ban recovery"). A restart is counted in status
 * before the pod is deleted, so a crash in between can lose a restart but never adds one.
 */
export class BanRecovery {
  /**
   * A restart that is already counted but not done yet: the uid of the pod to delete, and the time in
   * `lastSelfUnban` that is written with the count.
   */
  private readonly pendingRestart: PerHub<{ readonly pod: string; readonly at: string | undefined }>;

  /** @param restarts says what a restart would interrupt */
  constructor(
    private readonly services: Pick<Services, 'clock' | 'cluster' | 'settings' | 'cache'>,
    private readonly restarts: Pick<PodRestarts, 'occupation'>,
  ) {
    this.pendingRestart = new PerHub(services.cache);
  }

  /** @param ban the message of the ban */
  async recover(context: HubContext, ban: string): Promise<Outcome> {
    const { hub } = context;
    const { podIp } = this.services.settings;
    const obstacle = this.obstacle(context, ban);
    if (obstacle) return obstacle;
    const pod = podOf(this.services, hub);
    if (!pod || pod.metadata.deletionTimestamp) return this.restarting(ban, pod);
    const pendingRestart = this.pendingRestart.get(hub);
    // The pod is deleted only after the status shows the count, since that write may have failed.
    if (pendingRestart?.pod === pod.metadata.uid && pendingRestart?.at === hub.status?.lastSelfUnban) {
      const wait = await this.waitFor(hub, ban);
      if (wait) return wait;
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
        const wait = await this.waitFor(hub, ban);
        if (wait) return wait;
        const { lastSelfUnban: at } = banStatus(decision.history);
        this.pendingRestart.set(hub, { pod: pod.metadata.uid!, at });
        return this.scheduleRestart(decision.history, ban);
      }
    }
  }

  /**
   * The outcome while a restart must not begin. It is asked for before the restart is counted, and before the pod is
   * deleted: a backup may have begun in between, where the write of the count failed for a while or the Hub was suspended.
   *
   * @returns undefined when it may
   */
  private async waitFor(hub: Hub, ban: string): Promise<Outcome | undefined> {
    const occupation = await this.restarts.occupation(hub);
    if (occupation) return recovering(`${sentence(ban)} ${OCCUPIED[occupation]}`, POD_NOT_READY_REQUEUE);
    return isHeldNow(this.services, hub) ? recovering(sentence(ban), POD_NOT_READY_REQUEUE) : undefined;
  }

  /**
   * The outcome when no restart can lift the ban.
   *
   * @returns undefined when one may
   */
  private obstacle(context: HubContext, ban: string): Outcome | undefined {
    const { podIp } = this.services.settings;
    if (!context.spec.banRecovery.enabled) {
      const message = `${sentence(ban)} banRecovery.enabled is false: ${manualSteps(podIp)}`;
      // A failure that was reported before the recovery was disabled is outdated.
      const conditions = { BanRecoveryFailed: null };
      const details = { status: { phase: 'Unknown' }, conditions };
      return waiting('HubBanned', message, DEPENDENCY_REQUEUE, details);
    }
    if (podIp) return undefined;
    const message = `${sentence(ban)} The operator does not know its own address, because POD_IP is not set: ${manualSteps(podIp)}`;
    return stopped(context, 'OperatorAddressUnknown', message);
  }

  /**
   * The outcome for a hub that does not respond because it is being restarted.
   *
   * @returns undefined when no restart is in progress
   */
  restartInProgress(hub: Hub): Outcome | undefined {
    const { lastRestart, window } = banHistoryOf(hub.status ?? {});
    // A response of the hub after the restart would have closed the window.
    const isRecent =
      window !== undefined && this.services.clock.now() - (lastRestart ?? -Infinity) < RESTART_DURATION;
    return isRecent ? this.restarting('the hub had banned the operator') : undefined;
  }

  /** Records that the hub accepted the token. This ends the window, but not the cooldown. */
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

const OCCUPIED: Readonly<Record<Occupation, string>> = {
  start: 'The restart that lifts the ban waits for the end of the start of the hub.',
  backup: 'The restart that lifts the ban waits for the end of a backup, for an hour at most.',
};

const manualSteps = (address: string): string =>
  `remove ${address || 'the address of the operator'} from ip_bans.yaml on the volume and restart the hub.`;

/** The outcome while the operator lifts the ban by a restart. */
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

/** Turns an error message into a sentence. */
const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

/**
 * The reason why the last restart cannot have lifted the ban: the present pod reported at its start that the
 * operator's address was not among the bans.
 *
 * @returns undefined when the pod did not report that
 */
function restartIneffective(pod: Pod, { lastRestart, window }: BanHistory): string | undefined {
  // A successful response of the hub since the restart would have closed the window.
  if (!window || lastRestart === undefined) return undefined;
  if (Date.parse(pod.metadata.creationTimestamp ?? '') < lastRestart - TIME_RESOLUTION) return undefined;
  const report = unbanReport(pod);
  if (report?.result !== 'absent') return undefined;
  const others = report.banned.length > 0 ? `; banned are ${report.banned.join(', ')}` : '';
  return `${report.address} is not among the bans${others}`;
}

/** The outcome when restarts do not help: only a person can lift the ban. */
function stopped({ hub }: HubContext, reason: Reason, message: string): Stalled {
  const isNew = conditionOf(hub, 'BanRecoveryFailed')?.status !== 'True';
  return stalled('HubBanned', message, {
    status: { phase: 'Failed' },
    conditions: { BanRecoveryFailed: condition('True', reason, message) },
    events: isNew ? [{ type: 'Warning', reason: 'BanRecoveryFailed', message }] : [],
  });
}

/** The restarts that bans have caused. Times are in milliseconds since the epoch. */
export interface BanHistory {
  /** Number of all restarts so far. */
  readonly count: number;
  readonly lastRestart?: number | undefined;
  /**
   * The current series of restarts. A restart opens it. The first authenticated response of the hub closes
   * it, or BAN_WINDOW.
   */
  readonly window?: { readonly startedAt: number; readonly restarts: number } | undefined;
}

export type BanDecision =
  /** Restart the hub now. `history` includes that restart. */
  | { readonly type: 'restart'; readonly history: BanHistory }
  /** The last restart is too recent. `after`: milliseconds until the next may follow. */
  | { readonly type: 'cooldown'; readonly after: number }
  /** The limit of this window is reached. `after`: milliseconds until the window ends. */
  | { readonly type: 'exhausted'; readonly after: number };

/**
 * Decides whether a hub that has banned the operator may be restarted (rules.md, "Ban recovery"). The
 * cooldown is checked first, and no success shortens it. Otherwise, if the operator itself keeps causing the
 * ban, the hub would be restarted again and again.
 */
export function decideBanRestart({ count, lastRestart, window }: BanHistory, now: number): BanDecision {
  // A restart in the near future means that the clock was set back. A restart in the far future is ignored.
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

/** The history in status, with which a restarted operator continues. */
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
