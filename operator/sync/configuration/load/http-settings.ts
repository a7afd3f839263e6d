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
  /** `status.httpSource`; null: there is no such section. */
  readonly source: 'Yaml' | 'Api' | null;
  /** `HttpSettingsReady`; null: the section is no matter of the API. */
  readonly condition: ConditionValue | null;
  /** The hub is busy with it: it is checked again soon. */
  readonly inProgress?: boolean;
}

/** The next step for the settings of a hub. */
type HttpStep =
  | { readonly type: 'done' }
  /** The settings are on trial, and the operator has just talked to the hub through them. */
  | { readonly type: 'promote' }
  | { readonly type: 'configure' }
  /** Ours are stored and not in use yet: the hub is restarting. */
  | { readonly type: 'wait' }
  /** Others are on trial that are not ours. */
  | { readonly type: 'occupied' }
  /** The hub gave ours up. */
  | { readonly type: 'reverted'; readonly error: string };

/**
 * Decides from the hub's answer alone, so that a crash of either side changes nothing. A change is on trial for five
 * minutes. The hub reverts it unless it is promoted in that time, and restarts in both cases.
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
 * The complete desired settings: a setting that the user does not write has the default of the hub, and so has a profile whose name
 * a hub with versions of profiles does not know. Without a certificate, which no section may name, none is in use.
 */
export function completeSettings({ default: standard }: HttpConfig, written: HttpSettings): HttpSettings {
  const defaults = settingsIn(standard);
  const isKnown = VERSIONED.test(written.ssl_profile ?? '') || !VERSIONED.test(defaults.ssl_profile ?? '');
  const { ssl_profile } = isKnown && written.ssl_profile ? written : defaults;
  return { ...defaults, ...written, ...(ssl_profile && { ssl_profile }) };
}

const VERSIONED = /_v\d+$/;

export interface HttpPolicy {
  readonly strategy: ReloadStrategy;
  /** Try settings again that the hub has given up. */
  readonly forced: boolean;
  /** Nothing else is being loaded into the hub. */
  readonly mayRestart: boolean;
  /** The condition of the former reconcile shows settings of a section. */
  readonly hadSection: boolean;
  /** The settings that were sent last, by this process or a former one. */
  readonly sent?: SentSettings | undefined;
  /** Stores them before they are sent, so that no crash sends the same settings for ever. */
  readonly remember: (sent: SentSettings | undefined) => Promise<void>;
}

/**
 * Drives the settings of the hub's web server from the section `http:` (rules.md, "HTTP settings"). The same settings are sent
 * twice at most, since the hub restarts for each time.
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
      // The operator's own former settings are on trial: one edit was followed by another.
      if (config.pending && sent?.hash === hashOf(config.pending)) break;
      return goesOn(
        'PendingChange',
        'Other settings of the web server are on trial in the hub. The section http: is applied when they are confirmed or reverted.',
      );
    case 'reverted':
      // A trial that no operator promoted in time, such as during an update of it, is repeated.
      if (!forced && (step.error !== 'not_promoted' || hasUsedUpAttempts))
        return result(
          'Reverted',
          `The hub has gone back to its former settings, since it could not be reached with those of the section http:, or could not use them (${step.error}). Change the section.`,
        );
      break;
    case 'configure':
      // The hub restarts for each attempt: settings that it changes itself must not restart it without end.
      if (hasUsedUpAttempts)
        return result(
          'Rejected',
          'The hub shows other settings than those of the section http: that were sent to it. Write the values in the section as the hub shows them.',
        );
  }
  return configure(connection, desired, policy);
}

/** False: the hub does not run with them yet, or their trial has just ended. The next reconcile shows which. */
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

/** The hub keeps the settings of a section that is gone, until a person changes them or writes it again. */
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

/** The hub restarts for it. */
async function configure(
  connection: HubConnection,
  desired: HttpSettings,
  { strategy, mayRestart, sent, remember }: HttpPolicy,
): Promise<HttpResult> {
  if (strategy === 'hot-reload')
    return result(
      'RestartPending',
      'The hub restarts for a change of the section http:, and spec.reloadStrategy is hot-reload: set it to auto.',
    );
  if (!mayRestart)
    return goesOn(
      'InProgress',
      'The settings of the section http: are sent to the hub once it has been restarted for other sections.',
    );
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

const goesOn = (reason: HttpReason, message: string): HttpResult => ({
  ...result(reason, message),
  inProgress: true,
});

const inProgress = goesOn('InProgress', 'The hub is restarting to try the settings of the section http:.');

const isSame = (slot: HttpSlot, desired: HttpSettings): boolean =>
  isDeepStrictEqual(settingsIn(slot), settingsIn(desired));

const hashOf = (slot: HttpSlot): string => hash('sha256', JSON.stringify(settingsIn(slot))).slice(0, 32);

/** The settings with a value, sorted. The hub shows keys that are not set in one slot as absent and in another as null. */
function settingsIn(slot: HttpSlot | null): HttpSettings {
  const { created_at: _at, error: _error, error_message: _message, ...settings }: HttpSlot = slot ?? {};
  const set = Object.entries(settings).filter(([, value]) => value != null);
  return Object.fromEntries(set.sort(([a], [b]) => (a < b ? -1 : 1)));
}
