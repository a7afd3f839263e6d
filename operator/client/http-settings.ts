import type { HubConnection } from './connection';
import { HubRejected } from './errors';

/**
 * Whether the hub reads the client's address from `X-Forwarded-For`, and the proxies from which it accepts the header.
 */
export interface ReverseProxySettings {
  readonly enabled: boolean;
  /** CIDR */
  readonly trustedProxies: readonly string[];
}

/** The active settings; undefined for a hub older than 2026.8, which has them only in its YAML. */
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
