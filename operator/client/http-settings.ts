import type { HubConnection } from './connection';
import { HubRejected } from './errors';

/** Whether and from whom the hub takes the visitor's address out of `X-Forwarded-For`. */
export interface ReverseProxySettings {
  readonly enabled: boolean;
  /** CIDR */
  readonly trustedProxies: readonly string[];
}

/** The settings that are in use. Undefined for a hub older than 2026.8, which keeps them in its YAML alone. */
export async function getReverseProxySettings(
  connection: HubConnection,
): Promise<ReverseProxySettings | undefined> {
  try {
    const answer = await connection.command('http/config');
    const slot = answer.active_config_type === 'default_legacy_port' ? 'default' : answer.active_config_type;
    const active = answer[slot] ?? {};
    return { enabled: active.use_x_forwarded_for ?? false, trustedProxies: active.trusted_proxies ?? [] };
  } catch (error) {
    if (error instanceof HubRejected && error.code === 'unknown_command') return undefined;
    throw error;
  }
}
