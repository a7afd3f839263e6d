import type { HubConnection } from './connection';
import { NotHomeAssistant } from './errors';
import { type CallOptions, WRITE_TIMEOUT, type RestClient } from './rest';
import { type CoreConfig, type CoreConfigUpdate, type AnalyticsPreferences } from './api-types';

/** Versions are like `2026.11.0` or `2026.12.0.dev20261101`; this one goes into status. */
const MAX_VERSION_LENGTH = 64;

/** Also the cheapest call that shows whether our token is good. @throws TokenRejected; NotHomeAssistant for an answer of no hub */
export async function getConfig(rest: RestClient, options?: CallOptions): Promise<CoreConfig> {
  const answer = await rest.get<CoreConfig | undefined | null>('/api/config', options);
  if (typeof answer?.version !== 'string' || answer.version.length > MAX_VERSION_LENGTH)
    throw new NotHomeAssistant(`${rest.address.url} does not say its version, as a hub would`);
  return answer;
}

/**
 * Sets location, units and the like, in use at once and kept. Keys that stand in the user's YAML come back at the
 * next start. The hub fires its event even when nothing differs: compare first.
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

/** Keys that are left out stay. @throws HubRejected `unknown_command` while `analytics` is not loaded */
export async function setAnalytics(
  connection: HubConnection,
  preferences: AnalyticsPreferences,
): Promise<void> {
  await connection.command('analytics/preferences', { preferences });
}

/** What the hub's own check of its files says; texts quote the files, secrets included. */
export interface ConfigCheck {
  readonly result: 'valid' | 'invalid';
  readonly errors: string | null;
  readonly warnings: string | null;
}

/** Has the hub check the files that it would start with. */
export function checkConfig(rest: RestClient): Promise<ConfigCheck> {
  return rest.post('/api/config/core/check_config', undefined, { timeout: WRITE_TIMEOUT });
}
