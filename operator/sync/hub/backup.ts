import type {
  BackupConfig,
  BackupConfigUpdate,
  BackupContents,
  BackupInfo,
} from '../../client/connection/backup-types';
import {
  backupFailure,
  getBackupConfig,
  getBackupInfo,
  isBusy,
  listBackupAgents,
  onBackupEnded,
  updateBackupConfig,
} from '../../client/setup/backup';
import { HubBanned, HubError, HubFailed, HubRejected, TokenRejected } from '../../client/connection/errors';
import type { HubClient } from '../../client/hub-client';
import { redactor } from '../../client/connection/redact';
import { timestamp } from '../../base/clock';
import { truncate } from '../../base/truncate';
import type { Hub } from '../../kinds';
import { API_NOT_LOADED_REQUEUE, DEPENDENCY_REQUEUE } from '../../base/limits';
import { conditionOf } from '../../runtime/conditions';
import type { EventSpec } from '../../runtime/event-spec';
import { condition, type ConditionValue } from '../../runtime/outcome';
import type { Services } from '../services';
import { agentsOfIntegrations, type BackupSpec, chooseAgents, isInContainer } from './backup-agents';
import { secretValue } from '../hub-connection/secret-value';
import { type Authenticated, type HubContext, type HubStep, requeueAfter } from './steps';

/**
 * Ensures the schedule of automatic backups in `spec.backup`. Without that block the hub's schedule is left
 * alone. Sets `status.backup` and the condition `BackupConfigured` (rules.md, "Backup").
 */
export function ensureBackupSchedule(
  services: Pick<Services, 'applier' | 'requeue' | 'secrets' | 'settings' | 'cache'>,
): HubStep<HubContext & Authenticated> {
  const listeners = new BackupListeners(services);
  return {
    name: 'backup',
    async run(context) {
      const { hub, spec, status, conditions, client } = context;
      if (!spec.backup) {
        conditions['BackupConfigured'] = null;
        status['backup'] = null;
        return {};
      }
      const reference = spec.backup.passwordSecretRef;
      const password =
        reference &&
        (await secretValue(services, hub, { ...reference, field: 'spec.backup.passwordSecretRef' }));
      if (password && 'missing' in password) {
        // Without the password nothing is set: a backup that should be encrypted must not be created
        // unencrypted.
        conditions['BackupConfigured'] = failed(`passwordSecretRef: ${password.missing}`);
        return {};
      }
      const secrets = password ? [password.value] : [];
      try {
        await listeners.add(hub, client);
        await applySchedule(services.cache, context, spec.backup, password?.value, secrets);
      } catch (error) {
        if (!(error instanceof HubError)) throw error;
        reportError(context, error, secrets);
      }
      return {};
    },
  };
}

/** Requeues the Hub at the end of each backup, by one listener per client. */
class BackupListeners {
  private readonly listening = new WeakSet<HubClient>();

  constructor(private readonly services: Pick<Services, 'requeue'>) {}

  async add({ metadata: { namespace, name } }: Hub, client: HubClient): Promise<void> {
    if (this.listening.has(client)) return;
    this.listening.add(client);
    try {
      await onBackupEnded(client.connection, () => this.services.requeue('Hub', namespace, name));
    } catch (error) {
      this.listening.delete(client);
      throw error;
    }
  }
}

/**
 * Sends the settings that differ from `spec.backup`.
 *
 * @param secrets receives the password that is set in the hub, which errors of the hub may quote
 */
async function applySchedule(
  cache: Services['cache'],
  context: HubContext & Authenticated,
  desired: BackupSpec,
  password: string | undefined,
  secrets: string[],
): Promise<void> {
  const { hub, conditions, spec, status } = context;
  const { connection } = context.client;
  const present = await getBackupConfig(connection);
  if (present.create_backup.password !== null) secrets.push(present.create_backup.password);
  const known = await listBackupAgents(connection);
  const provided = agentsOfIntegrations(desired, hub, cache, known);
  const ids = known.map(({ agent_id: id }) => id);
  const agents = 'missing' in provided ? provided : chooseAgents(desired, present, ids, provided.ids);
  if ('missing' in agents) {
    conditions['BackupConfigured'] = failed(agents.missing);
    // The agents of an integration appear when it is loaded.
    requeueAfter(context, DEPENDENCY_REQUEUE);
    return;
  }
  const contents = {
    agent_ids: agents.ids,
    include_database: desired.includeDatabase,
    password: password ?? (spec.external ? present.create_backup.password : null),
    ...(isInContainer(ids) && desired.recurrence !== 'never' && NO_SUPERVISOR),
  };
  const update = backupDifference(desired, contents, present);
  if (update) await updateBackupConfig(connection, update);
  const cleared = update?.create_backup && clearedEvent(present.create_backup, contents);
  if (cleared) context.events.push(cleared);
  const now = update ? await getBackupConfig(connection) : present;
  const info = attemptIsOpen(now) ? await getBackupInfo(connection) : undefined;
  const running = info !== undefined && isBusy(info);
  status['backup'] = backupStatus(now, running);
  conditions['BackupConfigured'] =
    info && desired.recurrence !== 'never'
      ? await afterOpenAttempt(context, info, Date.parse(now.last_attempted_automatic_backup!), secrets)
      : applied(desired);
}

/**
 * The condition after an attempt that has not succeeded. While a backup is being made, the last known result
 * is that of the attempt before. A hub that was restarted since the attempt no longer knows why it failed.
 *
 * @param began start of the attempt, in milliseconds since 1970
 */
async function afterOpenAttempt(
  { hub, spec, client: { connection } }: HubContext & Authenticated,
  info: BackupInfo,
  began: number,
  secrets: readonly string[],
): Promise<ConditionValue> {
  const former = conditionOf(hub, 'BackupConfigured');
  const reported = former?.reason === 'LastBackupFailed' && backupFailed(former.message);
  if (isBusy(info)) return reported || applied(spec.backup!);
  const failure = await backupFailure(connection, info, began);
  const { lastTime, lastResult } = hub.status?.backup ?? {};
  // The former condition is about this attempt.
  const isReported = lastTime === timestamp(began) && lastResult === 'Failed';
  if (failure === undefined && reported && isReported) return reported;
  return lastFailed(began, failure && redactor(secrets)(failure));
}

const backupFailed = (message: string) => condition('False', 'LastBackupFailed', message);

/**
 * Values for settings that a hub without the Supervisor rejects at each backup. Settings that were restored
 * from another installation may have them.
 */
const NO_SUPERVISOR = { include_addons: null, include_all_addons: false, include_folders: null };

/**
 * The event about removed settings that came from another installation.
 *
 * @returns undefined when none were removed
 */
function clearedEvent(before: BackupContents, now: BackupContents): EventSpec | undefined {
  const isCleared = 'include_addons' in now;
  const agents = before.agent_ids.filter((id) => !now.agent_ids.includes(id) && id.startsWith('hassio.'));
  const addons = [...(before.include_addons ?? []), ...(before.include_all_addons ? ['all'] : [])];
  const parts = [
    ['the destination', agents],
    ['the add-ons', isCleared ? addons : []],
    ['the folders', isCleared ? (before.include_folders ?? []) : []],
  ] as const;
  const lost = parts.flatMap(([what, names]) => (names.length > 0 ? `${what} ${names.join(', ')}` : []));
  if (lost.length === 0) return undefined;
  const message = `The hub's settings of automatic backups named ${lost.join(', ')}, which a hub without the Supervisor does not have: each backup would have failed. They were removed.`;
  return { type: 'Normal', reason: 'BackupSettingsCleared', message: truncate(message, LONGEST_EVENT) };
}

const LONGEST_EVENT = 1_000;
const LONGEST_FAILURE = 500;

const lastFailed = (began: number, failure: string | undefined): ConditionValue =>
  backupFailed(
    `The automatic backup of ${timestamp(began)} failed: ${
      failure === undefined
        ? 'the hub was started since and does not say why'
        : truncate(failure.replace(/\s+/g, ' ').trim().replace(/\.$/, ''), LONGEST_FAILURE)
    }. Correct the cause, then make a backup with the automatic settings in the hub: Settings → System → Backups.`,
  );

function reportError(context: HubContext, error: HubError, secrets: readonly string[]): void {
  // The hub stopped responding after an answer, or rejects the operator's token: neither says anything about
  // its backups.
  if (!(error instanceof HubRejected || error instanceof HubFailed)) {
    const isOurs = error instanceof HubBanned || error instanceof TokenRejected;
    requeueAfter(context, isOurs ? 0 : API_NOT_LOADED_REQUEUE);
    return;
  }
  context.conditions['BackupConfigured'] = failed(
    `The hub rejects the backup settings: ${redactor(secrets)(error.message)}`,
  );
  // The backup integration may be loaded later.
  requeueAfter(context, DEPENDENCY_REQUEUE);
}

/**
 * The update to send. Each part of it is complete, since the hub resets the fields that a part omits.
 *
 * @returns undefined when the hub has the desired schedule
 */
export function backupDifference(
  desired: BackupSpec,
  contents: BackupContents,
  present: BackupConfig,
): BackupConfigUpdate | undefined {
  const schedule = scheduleOf(desired);
  const retention = { copies: desired.retentionCopies ?? null, days: desired.retentionDays ?? null };
  const { create_backup: made } = present;
  const update: BackupConfigUpdate = {
    ...(!sameSchedule(schedule, present.schedule) && { schedule }),
    ...((retention.copies !== present.retention.copies || retention.days !== present.retention.days) && {
      retention,
    }),
    ...((!sameSet(contents.agent_ids, made.agent_ids) ||
      contents.include_database !== made.include_database ||
      contents.password !== made.password ||
      asksForSupervisor(contents, made)) && { create_backup: contents }),
    // Without this flag the hub's own backup page asks the user to set up backups.
    ...(desired.recurrence !== 'never' &&
      !present.automatic_backups_configured && { automatic_backups_configured: true }),
  };
  return Object.keys(update).length > 0 ? update : undefined;
}

const asksForSupervisor = (desired: BackupContents, made: BackupContents): boolean =>
  'include_addons' in desired &&
  [made.include_addons?.length, made.include_folders?.length, made.include_all_addons].some(Boolean);

function scheduleOf({ recurrence, ...spec }: BackupSpec): BackupConfig['schedule'] {
  const time = spec.time ?? null;
  if (recurrence === 'never' || recurrence === 'daily') return { recurrence, days: [], time };
  return { recurrence: 'custom_days', days: [recurrence], time };
}

function sameSchedule(a: BackupConfig['schedule'], b: BackupConfig['schedule']): boolean {
  return a.recurrence === b.recurrence && a.time === b.time && sameSet(a.days, b.days);
}

function sameSet(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((item) => b.includes(item));
}

/**
 * The fields of `status.backup`.
 *
 * @param running a backup is being made right now
 */
export function backupStatus(config: BackupConfig, running: boolean) {
  const { last_attempted_automatic_backup: last, next_automatic_backup: next } = config;
  const lastResult = !attemptIsOpen(config) ? 'Completed' : running ? 'InProgress' : 'Failed';
  return {
    ...(last !== null && { lastTime: timestamp(Date.parse(last)), lastResult }),
    ...(next !== null && { nextTime: timestamp(Date.parse(next)) }),
  };
}

/** Reports whether the last attempt failed or is still running. */
function attemptIsOpen({
  last_attempted_automatic_backup: attempted,
  last_completed_automatic_backup: completed,
}: BackupConfig): boolean {
  return attempted !== null && (completed === null || Date.parse(completed) < Date.parse(attempted));
}

const applied = ({ recurrence }: BackupSpec): ConditionValue =>
  condition(
    'True',
    'Applied',
    recurrence === 'never' ? 'Automatic backups are off.' : 'The hub has the schedule of spec.backup.',
  );

const failed = (message: string): ConditionValue => condition('False', 'Failed', message);
