import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { HttpConfig, HttpSettings, HttpSlot } from '../../../client/connection/api-types';
import type { HubConnection } from '../../../client/connection/connection';
import { HubRejected, isUnknownCommand } from '../../../client/connection/errors';
import type { HubClient } from '../../../client/hub-client';
import { activeSlot, configureHttp, promoteHttp, readHttpConfig } from '../../../client/setup/http-settings';
import { HTTP_SETTINGS_ATTEMPTS } from '../../../base/limits';
import type { ConditionValue } from '../../../runtime/outcome';
import type { SentSettings } from '../record/record';
import type { HttpSection } from '../generate/http-section';
import type { ReloadStrategy } from './reload-decision';

/** The state of the section `http:`. */
export interface HttpResult {
  /** Value of `status.httpSource`. Null if there is no such section. */
  readonly source: 'Yaml' | 'Api' | null;
  /** The condition `HttpSettingsReady`. Null if the section is not set by the API. */
  readonly condition: ConditionValue | null;
  /** While the hub applies or tries the settings, or they wait: milliseconds until they are checked again. */
  readonly after?: number;
}

/** The next step for the settings of a hub. */
type HttpStep =
  | { readonly type: 'done' }
  /**
   * The settings are on trial, and the operator has just reached the hub with them, so they can be confirmed.
   */
  | { readonly type: 'promote' }
  | { readonly type: 'configure' }
  /** The settings are stored but not in use yet, since the hub is restarting. */
  | { readonly type: 'wait' }
  /** Settings that the operator did not send are on trial. */
  | { readonly type: 'occupied' }
  /** The hub has reverted the settings. */
  | { readonly type: 'reverted'; readonly error: string };

/**
 * Decides on the next step only from the hub's answer, so that a crash of the hub or the operator does not
 * matter. Changed settings are on trial for five minutes. The hub reverts them unless they are promoted in
 * that time. In both cases it restarts.
 */
export function nextHttpStep(
  { stable, pending, active_config_type: active }: HttpConfig,
  desired: HttpSettings,
): HttpStep {
  const isOurs = pending !== null && isSame(pending, desired);
  if (pending && !pending.error && !isOurs) return { type: 'occupied' };
  if (isOurs && !pending.error) return { type: active === 'pending' ? 'promote' : 'wait' };
  if (stable && isSame(stable, desired)) return { type: 'done' };
  if (isOurs) return { type: 'reverted', error: pending.error_message ?? pending.error ?? '' };
  return { type: 'configure' };
}

/**
 * The complete desired settings. A setting that the user omits has the default of the hub. So has
 * `ssl_profile`, if the hub uses versioned profiles and the user's value has no version. Certificates are
 * never in use, since a section must not name one.
 */
export function completeSettings({ default: standard }: HttpConfig, written: HttpSettings): HttpSettings {
  const defaults = settingsIn(standard);
  const isKnown = VERSIONED.test(written.ssl_profile ?? '') || !VERSIONED.test(defaults.ssl_profile ?? '');
  const { ssl_profile } = isKnown && written.ssl_profile ? written : defaults;
  return { ...defaults, ...written, ...(ssl_profile && { ssl_profile }) };
}

const VERSIONED = /_v\d+$/;

/** Milliseconds between checks of HTTP settings that are on trial, or wait for what ends within an hour. */
export const HTTP_POLL = 5_000;

/** What a restart of the hub waits for. */
export interface Awaited {
  /** The end of a sentence, after `once`. */
  readonly end: string;
  /** Milliseconds until the settings are checked again. */
  readonly after: number;
}

export interface HttpPolicy {
  readonly strategy: ReloadStrategy;
  /** Try settings again that the hub has reverted. */
  readonly forced: boolean;
  /**
   * What a restart of the hub has to wait for. It is asked for right before the settings are sent.
   *
   * @returns undefined when the hub may restart now
   */
  readonly restartWaitsFor: () => Promise<Awaited | undefined>;
  /** True if status has the condition `HttpSettingsReady`: the section existed in an earlier reconcile. */
  readonly hadSection: boolean;
  /** The settings that were sent last, by this process or a former one. */
  readonly sent?: SentSettings | undefined;
  /**
   * Stores the settings before they are sent, so that a crash cannot lead to sending them again and again.
   */
  readonly remember: (sent: SentSettings | undefined) => Promise<void>;
}

/**
 * Applies the section `http:` to the settings of the hub's web server (rules.md, "HTTP settings"). Equal
 * settings are sent at most twice, since the hub restarts each time.
 */
export async function syncHttpSettings(
  { connection }: Pick<HubClient, 'connection'>,
  section: HttpSection,
  policy: HttpPolicy,
): Promise<HttpResult> {
  if (section.type === 'absent' && !policy.hadSection) return NO_SECTION;
  const config = await readHttpConfig(connection).catch((error: unknown) => {
    if (isUnknownCommand(error)) return 'hidden' as const;
    throw error;
  });
  if (section.type === 'absent') return config && config !== 'hidden' ? withoutSection(config) : NO_SECTION;
  if (config === 'hidden') return result('Rejected', NOT_SHOWN);
  if (!config) return { source: 'Yaml', condition: null };
  if (section.type === 'invalid') return result('Rejected', section.message);
  const desired = completeSettings(config, section.settings);
  const port = activeSlot(config)?.server_port;
  if (port !== undefined && desired.server_port !== port)
    return result(
      'Rejected',
      `http.server_port is ${desired.server_port}, and the hub's Service expects the hub at ${port}: remove it. spec.service.port of the Hub sets the port of the Service.`,
    );
  return takeStep(connection, config, desired, policy);
}

/** Takes the next step for settings that the hub can have. */
async function takeStep(
  connection: HubConnection,
  config: HttpConfig,
  desired: HttpSettings,
  policy: HttpPolicy,
): Promise<HttpResult> {
  const { sent, forced, remember } = policy;
  const hasUsedUpAttempts = !forced && sent?.hash === hashOf(desired) && sent.times >= HTTP_SETTINGS_ATTEMPTS;
  const step = nextHttpStep(config, desired);
  switch (step.type) {
    case 'promote':
    case 'done':
      if (step.type === 'promote' && !(await promoted(connection))) return inProgress;
      if (sent) await remember(undefined);
      return result('Applied', 'The hub has the settings of the section http:.');
    case 'wait':
      return inProgress;
    case 'occupied':
      // The settings on trial are the operator's own: the section was edited again during their trial.
      if (config.pending && sent?.hash === hashOf(config.pending)) break;
      return goesOn(
        'PendingChange',
        'Other settings of the web server are on trial in the hub. The section http: is applied when they are confirmed or reverted.',
      );
    case 'reverted':
      // A trial that was not promoted in time, for example because the operator was being updated, is
      // repeated.
      if (!forced && (step.error !== 'not_promoted' || hasUsedUpAttempts))
        return result(
          'Reverted',
          `The hub has gone back to its former settings, since it could not be reached with those of the section http:, or could not use them (${step.error}). Change the section.`,
        );
      break;
    case 'configure':
      // The hub restarts for each attempt. The number of attempts is limited, in case the hub itself changes
      // the settings.
      if (hasUsedUpAttempts)
        return result(
          'Rejected',
          'The hub shows other settings than those of the section http: that were sent to it. Write the values in the section as the hub shows them.',
        );
  }
  return configure(connection, desired, policy);
}

/**
 * Confirms the settings on trial.
 *
 * @returns false when the hub does not use them yet, or their trial has just ended; the next reconcile shows
 * which
 */
async function promoted(connection: HubConnection): Promise<boolean> {
  try {
    await promoteHttp(connection);
    return true;
  } catch (error) {
    if (error instanceof HubRejected) return false;
    throw error;
  }
}

const NO_SECTION: HttpResult = { source: null, condition: null };

/**
 * The result when the section was removed. The hub keeps its settings until a user changes them or writes the
 * section again.
 */
function withoutSection({ stable, default: standard }: HttpConfig): HttpResult {
  const [present, defaults] = [settingsIn(stable ?? standard), settingsIn(standard)];
  const kept = (Object.keys({ ...present, ...defaults }) as (keyof HttpSettings)[])
    .filter((key) => !isDeepStrictEqual(present[key], defaults[key]))
    .sort();
  if (kept.length === 0) return NO_SECTION;
  const message = `The section http: is gone, and the hub keeps settings that are not its defaults: ${kept.join(', ')}. Write the section with the values that you want, or change them in the hub.`;
  return { source: null, condition: { status: 'True', reason: 'Kept', message } };
}

const NOT_SHOWN =
  'This version of the hub does not show the settings of its web server, so those of the section http: are not applied: update the operator, or remove the section.';

/** Sends the settings to the hub, which restarts to try them. */
async function configure(
  connection: HubConnection,
  desired: HttpSettings,
  { strategy, restartWaitsFor, sent, remember }: HttpPolicy,
): Promise<HttpResult> {
  if (strategy === 'hot-reload')
    return result(
      'RestartPending',
      'The hub restarts for a change of the section http:, and spec.reloadStrategy is hot-reload: set it to auto.',
    );
  const awaited = await restartWaitsFor();
  if (awaited) {
    const message = `The settings of the section http: are sent to the hub once ${awaited.end}.`;
    return goesOn('InProgress', message, awaited.after);
  }
  const sending = hashOf(desired);
  await remember({ hash: sending, times: sent?.hash === sending ? sent.times + 1 : 1 });
  try {
    await configureHttp(connection, desired);
    return inProgress;
  } catch (error) {
    if (!(error instanceof HubRejected)) throw error;
    await remember(sent);
    if (error.code === 'not_running') return inProgress;
    return result('Rejected', `The hub rejects the section http: in spec.configuration: ${error.message}`);
  }
}

type HttpReason = 'Applied' | 'InProgress' | 'PendingChange' | 'Reverted' | 'Rejected' | 'RestartPending';

const result = (reason: HttpReason, message: string): HttpResult => ({
  source: 'Api',
  condition: { status: reason === 'Applied' ? 'True' : 'False', reason, message },
});

const goesOn = (reason: HttpReason, message: string, after = HTTP_POLL): HttpResult => ({
  ...result(reason, message),
  after,
});

const inProgress = goesOn('InProgress', 'The hub is restarting to try the settings of the section http:.');

const isSame = (slot: HttpSlot, desired: HttpSettings): boolean =>
  isDeepStrictEqual(settingsIn(slot), settingsIn(desired));

const hashOf = (slot: HttpSlot): string => hash('sha256', JSON.stringify(settingsIn(slot))).slice(0, 32);

/**
 * The settings that have a value, sorted. The hub returns unset keys as absent in some slots and as null in
 * others.
 */
function settingsIn(slot: HttpSlot | null): HttpSettings {
  const { created_at: _at, error: _error, error_message: _message, ...settings }: HttpSlot = slot ?? {};
  const set = Object.entries(settings).filter(([, value]) => value != null);
  return Object.fromEntries(set.sort(([a], [b]) => (a < b ? -1 : 1)));
}
