import { type ConfigCheck, configCheck, coreState } from '../connection/answers';
import type { HubConnection } from '../connection/connection';
import { NotHomeAssistant } from '../connection/errors';
import type { CallOptions, RestClient } from '../connection/rest';
import { isObject } from '../../base/is-object';
import type { Shape } from '../connection/shape';
import {
  type AnalyticsPreferences,
  coreConfig,
  type CoreConfig,
  type CoreConfigUpdate,
} from '../connection/api-types';

/** Characters. A version, such as `2026.11.0` or `2026.12.0.dev20261101`, is written to the status. */
const MAX_VERSION_LENGTH = 64;

/**
 * Reads the core configuration (`GET /api/config`). This is also the cheapest call that verifies the token.
 *
 * @throws TokenRejected
 * @throws NotHomeAssistant the answer has no valid version
 */
export async function getConfig(rest: RestClient, options?: CallOptions): Promise<CoreConfig> {
  const answer = await rest.get('/api/config', { ...options, answer: configOfHub });
  if (!hasVersion(answer))
    throw new NotHomeAssistant(`${rest.address.url} is not a hub: /api/config has no valid version`);
  return answer;
}

const hasVersion = (answer: unknown): boolean =>
  isObject(answer) && typeof answer['version'] === 'string' && answer['version'].length <= MAX_VERSION_LENGTH;

/**
 * Accepts an answer without a version, which is not a failure of the hub: another program may have answered,
 * and the caller reports that.
 */
const configOfHub: Shape<CoreConfig> = (answer) => (hasVersion(answer) ? coreConfig(answer) : undefined);

/** The progress of the hub's start. */
interface CoreState {
  readonly state: CoreConfig['state'];
  /** The hub's database is being converted to a newer schema. */
  readonly isMigrating: boolean;
}

/**
 * Reads the state of the hub (`GET /api/core/state`). The hub answers once its frontend is set up, which
 * happens before its database is ready.
 */
export async function getCoreState(rest: RestClient): Promise<CoreState> {
  const answer = await rest.get('/api/core/state', { answer: coreState });
  return { state: answer.state, isMigrating: answer.recorder_state?.migration_in_progress === true };
}

/**
 * Sets location, units, URLs and so on. Changes take effect at once and are stored. At its next start, the
 * hub overrides them with the keys in the user's YAML. The hub fires its event even if nothing changes, so
 * callers must compare first.
 *
 * @throws HubRejected `invalid_format`, or `invalid_info` for an unknown time zone
 */
export async function updateCoreConfig(connection: HubConnection, update: CoreConfigUpdate): Promise<void> {
  await connection.command('config/core/update', update);
}

/** @throws HubRejected `unknown_command` while `analytics` is not loaded */
export async function getAnalytics(connection: HubConnection): Promise<AnalyticsPreferences> {
  const answer = await connection.command('analytics');
  return answer.preferences;
}

/** Omitted keys keep their values. @throws HubRejected `unknown_command` while `analytics` is not loaded */
export async function setAnalytics(
  connection: HubConnection,
  preferences: AnalyticsPreferences,
): Promise<void> {
  await connection.command('analytics/preferences', { preferences });
}

/** Makes the hub check its configuration files (`POST /api/config/core/check_config`). */
export function checkConfig(rest: RestClient): Promise<ConfigCheck> {
  return rest.post('/api/config/core/check_config', undefined, {
    timeout: rest.writeTimeout,
    answer: configCheck,
  });
}
