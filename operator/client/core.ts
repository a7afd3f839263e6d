import type { HubConnection } from './connection';
import { NotHomeAssistant } from './errors';
import { type CallOptions, WRITE_TIMEOUT, type RestClient } from './rest';

/** What the hub says of itself, as far as we use it. */
export interface CoreConfig {
  readonly version: string;
  readonly state: 'NOT_RUNNING' | 'STARTING' | 'RUNNING' | 'STOPPING' | 'FINAL_WRITE';
  /** The configuration is broken: everything answers, but registries and entities read empty. Touch nothing. */
  readonly recovery_mode: boolean;
  /** Started without custom integrations. */
  readonly safe_mode: boolean;
  readonly components: readonly string[];
  readonly config_source: 'default' | 'storage' | 'yaml';
  readonly location_name: string;
  readonly latitude: number;
  readonly longitude: number;
  readonly elevation: number;
  readonly radius: number;
  /** Units by quantity; `length` is `km` in the metric system, `mi` in the other. */
  readonly unit_system: Readonly<Record<string, string>>;
  readonly time_zone: string;
  readonly currency: string;
  readonly country: string | null;
  readonly language: string;
  readonly internal_url: string | null;
  readonly external_url: string | null;
}

/** What can be set; a key that is left out stays. `elevation` in metres, `radius` of the home zone too. */
export interface CoreConfigUpdate {
  readonly location_name?: string;
  readonly latitude?: number;
  readonly longitude?: number;
  readonly elevation?: number;
  readonly radius?: number;
  readonly unit_system?: 'metric' | 'us_customary';
  readonly time_zone?: string;
  readonly currency?: string;
  /** The hub cannot forget a country. */
  readonly country?: string;
  readonly language?: string;
  readonly internal_url?: string | null;
  readonly external_url?: string | null;
}

export interface AnalyticsPreferences {
  readonly base?: boolean;
  readonly diagnostics?: boolean;
  readonly usage?: boolean;
  readonly statistics?: boolean;
  readonly snapshots?: boolean;
}

/** Also the cheapest call that shows whether our token is good. @throws TokenRejected; NotHomeAssistant for an answer of no hub */
export async function getConfig(rest: RestClient, options?: CallOptions): Promise<CoreConfig> {
  const answer = await rest.get<CoreConfig | undefined | null>('/api/config', options);
  if (typeof answer?.version !== 'string')
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
  const answer = await connection.command<{ preferences: AnalyticsPreferences }>('analytics');
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
