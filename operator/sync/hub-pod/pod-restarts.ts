import { isBackupRunning } from '../../client/setup/backup';
import { getCoreState } from '../../client/setup/core';
import { HubBanned, HubError, HubUnreachable, isUnknownCommand } from '../../client/connection/errors';
import type { HubClient } from '../../client/hub-client';
import type { Hub } from '../../kinds/index';
import { LONGEST_BACKUP, LONGEST_START, RESTART_HOLD, ROLLOUT_TURN } from '../../base/limits';
import { undefinedIf } from '../../base/undefined-if';
import type { HubClients } from '../hub-connection/hub-clients';
import { PerHub } from '../hub-connection/per-hub';
import type { Services } from '../services';
import { isHeldNow } from '../still-desired';
import {
  deletePod,
  hubContainer,
  isOutdatedPod,
  isReadyPod,
  type Pod,
  podOf,
  statefulSetOf,
} from './owned-objects';

/**
 * The state of the pod template in comparison with the desired one. `pending`: a change is about to be
 * applied. `held`: the change cannot be applied now.
 */
type TemplateState = 'current' | 'pending' | 'held';

/**
 * An activity that a restart would interrupt. `start` includes a migration of the database, and a restore of
 * a backup for which the hub has stopped.
 */
export type Occupation = 'start' | 'backup';

interface SeenOccupation {
  readonly occupation: Occupation;
  /** Start of the container. */
  readonly startedAt: string;
  /** Time of the observation, by the monotonic clock. */
  readonly at: number;
}

/** A backup in progress. Times are of the monotonic clock. */
interface SeenBackup {
  /** Start of the container. */
  readonly startedAt: string;
  readonly first: number;
  /** Time of the last answer: after {@link LONGEST_START} without one, a backup in progress is another. */
  readonly last: number;
}

/**
 * The result of a request to restart a hub:
 *
 * - `deleted`: the pod is being deleted, and its successor starts.
 * - `rollout`: a changed pod template is about to replace the pod.
 * - `busy`: the hub starts, migrates its database, or makes or restores a backup.
 * - `unknown`: this process has not compared the pod template yet.
 * - `held`: the Hub is suspended or in dry-run, so its pod is not touched.
 */
type RestartResult = 'deleted' | 'rollout' | 'busy' | 'unknown' | 'held';

/**
 * Restarts hubs by deleting their pods. Pending rollouts are taken into account, so that one cause does not
 * restart a hub twice: after an update of the operator, both the pod template and the configuration may need
 * a restart.
 */
export class PodRestarts {
  private readonly templates: PerHub<TemplateState>;
  /** True for Hubs whose pending template was requested by a user's change. */
  private readonly requested: PerHub<boolean>;
  /** Times since which a restart is due, by the monotonic clock. */
  private readonly dueSince: PerHub<number>;
  /** The backup that each hub had in progress when it was last asked, which may be before its end. */
  private readonly backups: PerHub<SeenBackup>;
  /** The activity of each hub at its last answer. */
  private readonly seen: PerHub<SeenOccupation>;
  /** The reason why the pod was deleted, kept until the Hub has an event about it. */
  private readonly reasons: PerHub<string>;

  constructor(
    private readonly services: Pick<Services, 'cache' | 'clock' | 'cluster' | 'log' | 'requeue'>,
    private readonly hubs: Pick<HubClients, 'contact'>,
  ) {
    this.templates = new PerHub(services.cache);
    this.requested = new PerHub(services.cache);
    this.dueSince = new PerHub(services.cache);
    this.backups = new PerHub(services.cache);
    this.seen = new PerHub(services.cache);
    this.reasons = new PerHub(services.cache);
  }

  /**
   * Records that the Hub has compared its pod template, and requeues its HubConfiguration, which may wait for
   * that.
   *
   * @param isRequested a user's change caused the pending template, so its rollout waits for no other hub
   */
  recordTemplate(hub: Hub, state: TemplateState, isRequested = false): void {
    this.requested.set(hub, isRequested);
    if (this.templates.get(hub) === state) return;
    this.templates.set(hub, state);
    const { namespace, name } = hub.metadata;
    for (const { metadata } of this.services.cache.ofHub('HubConfiguration', namespace, name))
      this.services.requeue('HubConfiguration', namespace, metadata.name);
  }

  /**
   * Reports whether the hub is about to be restarted, or its pod is being replaced: a request now would be
   * interrupted. Counts for at most {@link RESTART_HOLD}.
   */
  isDue(hub: Hub): boolean {
    const pod = podOf(this.services, hub);
    const isGoing = pod !== undefined && (pod.metadata.deletionTimestamp ?? this.isOutdated(hub, pod));
    if (!isGoing && !this.requested.get(hub)) {
      this.dueSince.delete(hub);
      return false;
    }
    const now = this.services.clock.monotonic();
    const since = this.dueSince.get(hub) ?? now;
    this.dueSince.set(hub, since);
    return now - since < RESTART_HOLD;
  }

  /** Deletes the pod, unless a rollout is about to do so or its hub must not be interrupted. */
  async restart(hub: Hub, reason: string): Promise<RestartResult> {
    if (isHeldNow(this.services, hub)) return 'held';
    const template = this.templates.get(hub);
    if (template === undefined) return 'unknown';
    const pod = podOf(this.services, hub);
    if (!pod || pod.metadata.deletionTimestamp) return 'deleted';
    if (template === 'pending' || this.isOutdated(hub, pod)) return 'rollout';
    if (await this.occupation(hub)) return 'busy';
    if (isHeldNow(this.services, hub)) return 'held';
    const { namespace, name } = hub.metadata;
    const fields = { kind: hub.kind, namespace, name, pod: pod.metadata.name, reason };
    this.services.log.warn(fields, 'deleting pod of hub');
    this.reasons.set(hub, reason); // recorded before the request, since its effect requeues the Hub
    let isDeleted = false;
    try {
      isDeleted = await deletePod(this.services, hub, pod);
    } finally {
      if (!isDeleted) this.reasons.delete(hub);
    }
    return 'deleted';
  }

  /** The reason for which the pod was deleted since the last call. */
  takeReason(hub: Hub): string | undefined {
    const reason = this.reasons.get(hub);
    this.reasons.delete(hub);
    return reason;
  }

  /**
   * The activity of the hub that a restart must not interrupt. A start counts for at most {@link
   * LONGEST_START}, since a restart may be its remedy, and a backup for at most {@link LONGEST_BACKUP}. If
   * the hub cannot be asked, for example because it rejects the token, its last answer counts for {@link
   * LONGEST_START}.
   */
  async occupation(hub: Hub): Promise<Occupation | undefined> {
    const pod = podOf(this.services, hub);
    const container = hubContainer(pod);
    const startedAt = container?.state?.running?.startedAt;
    if (startedAt === undefined) return undefined;
    const contacted = await this.hubs.contact(hub);
    if ('missing' in contacted) return this.lastSeen(hub, startedAt);
    try {
      return this.record(hub, startedAt, await this.ask(hub, contacted.client, startedAt));
    } catch (error) {
      if (!(error instanceof HubError)) throw error;
      // The hub does not listen, but its container runs: the process starts again inside it, perhaps to
      // restore a backup.
      const isDown = error instanceof HubUnreachable && error.isDown && container?.started === true;
      const change = pod?.status?.conditions?.find(
        ({ type, status }) => type === 'Ready' && status !== 'True',
      );
      if (isDown && (!change || this.isRecent(change.lastTransitionTime))) return 'start';
      const last = this.lastSeen(hub, startedAt);
      if (!(error instanceof HubBanned) || last === 'start') return last;
      // A ban refuses requests. A connection that was open before still answers.
      const backup = await undefinedIf(isOfHub, this.isInBackup(hub, contacted.client, startedAt));
      return backup === undefined ? last : this.record(hub, startedAt, backup ? 'backup' : undefined);
    }
  }

  /** Keeps an answer of the hub, for when it cannot be asked. */
  private record(hub: Hub, startedAt: string, occupation: Occupation | undefined): Occupation | undefined {
    if (occupation) this.seen.set(hub, { occupation, startedAt, at: this.services.clock.monotonic() });
    else this.seen.delete(hub);
    return occupation;
  }

  private async ask(hub: Hub, client: HubClient, startedAt: string): Promise<Occupation | undefined> {
    const { state, isMigrating } = await getCoreState(client.rest);
    const isStarting = state === 'NOT_RUNNING' || state === 'STARTING';
    if (isMigrating || (isStarting && this.isRecent(startedAt))) return 'start';
    return (await this.isInBackup(hub, client, startedAt)) ? 'backup' : undefined;
  }

  /** The last answer of a hub that cannot be asked now, if it came from the present run of its container. */
  private lastSeen(hub: Hub, startedAt: string): Occupation | undefined {
    const seen = this.seen.get(hub);
    const counts = seen?.startedAt === startedAt && this.services.clock.monotonic() - seen.at < LONGEST_START;
    return counts ? seen.occupation : undefined;
  }

  private isRecent(time = ''): boolean {
    return this.services.clock.now() - Date.parse(time) < LONGEST_START;
  }

  private async isInBackup(hub: Hub, { connection }: HubClient, startedAt: string): Promise<boolean> {
    // A hub without the backup integration does not know this command.
    if (!(await undefinedIf(isUnknownCommand, isBackupRunning(connection)))) {
      this.backups.delete(hub);
      return false;
    }
    const now = this.services.clock.monotonic();
    const seen = this.backups.get(hub);
    const isSame = seen?.startedAt === startedAt && now - seen.last < LONGEST_START;
    const first = isSame ? seen.first : now;
    this.backups.set(hub, { startedAt, first, last: now });
    return now - first < LONGEST_BACKUP;
  }

  /**
   * Reports whether the pod is being replaced anyway, or does not exist: the next pod gets the present
   * template.
   */
  isGoing(hub: Hub): boolean {
    const pod = podOf(this.services, hub);
    return !pod || pod.metadata.deletionTimestamp !== undefined;
  }

  /**
   * Reports whether the hub has started in a pod with the applied template. False while another template is
   * pending.
   */
  async hasStartedWithTemplate(hub: Hub): Promise<boolean> {
    const pod = podOf(this.services, hub);
    if (!pod || this.templates.get(hub) === 'pending' || this.isOutdated(hub, pod)) return false;
    return isReadyPod(pod) && (await this.occupation(hub)) !== 'start';
  }

  /** Reports whether the pod is being replaced, or is a new pod whose hub has not started. */
  async isRestarting(hub: Hub): Promise<boolean> {
    const pod = podOf(this.services, hub);
    if (!pod) return false;
    if (pod.metadata.deletionTimestamp || this.isOutdated(hub, pod)) return true;
    const isNew = this.services.clock.now() - Date.parse(pod.metadata.creationTimestamp ?? '') < ROLLOUT_TURN;
    return isNew && (!isReadyPod(pod) || (await this.occupation(hub)) === 'start');
  }

  /** Reports whether a template was applied and the StatefulSet controller has not replaced the pod yet. */
  private isOutdated(hub: Hub, pod: Pod): boolean {
    return isOutdatedPod(pod, statefulSetOf(this.services, hub));
  }
}

const isOfHub = (error: unknown): boolean => error instanceof HubError;
