import { isIP } from 'node:net';
import { HTTP_BY_API, isLower } from '../../base/hub-version';
import type { HttpConfig, HttpSettings, HttpSlot, LogRecord } from '../connection/api-types';
import type { HubConnection } from '../connection/connection';
import { isUnknownCommand } from '../connection/errors';

/**
 * Whether the hub reads the client's address from `X-Forwarded-For`, and the proxies from which it accepts
 * this header.
 */
interface ReverseProxySettings {
  readonly enabled: boolean;
  /** Addresses or networks in CIDR notation. */
  readonly trustedProxies: readonly string[];
}

/** The active settings; undefined for a hub older than 2026.8, which has them only in its YAML. */
export async function getReverseProxySettings(
  connection: HubConnection,
): Promise<ReverseProxySettings | undefined> {
  const config = await readHttpConfig(connection);
  if (!config) return undefined;
  const active = activeSlot(config) ?? {};
  return { enabled: active.use_x_forwarded_for ?? false, trustedProxies: active.trusted_proxies ?? [] };
}

/** The settings with which the server was started; null if the hub names a slot that it does not return. */
export function activeSlot({
  active_config_type: active,
  stable,
  pending,
  ...rest
}: HttpConfig): HttpSlot | null {
  switch (active) {
    case 'stable':
      return stable;
    case 'pending':
      return pending;
    case 'default':
    case 'default_legacy_port':
      return rest.default;
    default:
      return null;
  }
}

/**
 * @returns undefined for a hub older than 2026.8, which has the settings only in its YAML
 *
 * @throws HubRejected `unknown_command` from a newer hub that does not offer the settings
 */
export async function readHttpConfig(connection: HubConnection): Promise<HttpConfig | undefined> {
  try {
    return await connection.command('http/config');
  } catch (error) {
    if (!isUnknownCommand(error)) throw error;
    const { version } = await connection.command('get_config');
    if (isLower(version, HTTP_BY_API)) return undefined;
    throw error;
  }
}

/**
 * Stores settings on trial. If they are new, the hub restarts with them within seconds, and reverts them five
 * minutes later unless they are promoted.
 *
 * @param config the complete settings: the hub uses its default for every missing key
 * @throws HubRejected `not_running` while it starts, `bind_failed`, or `invalid_format`
 */
export async function configureHttp(connection: HubConnection, config: HttpSettings): Promise<void> {
  await connection.command('http/config/configure', { config });
}

/**
 * Keeps the settings that are on trial. @throws HubRejected `not_allowed` if there are none, or they have
 * failed
 */
export async function promoteHttp(connection: HubConnection): Promise<void> {
  await connection.command('http/config/promote');
}

/** The address of a proxy that the hub does not trust, from the hub's log. */
export function refusedProxy(log: readonly Pick<LogRecord, 'message'>[]): string | undefined {
  const lines = log
    .flatMap(({ message }) => message)
    .filter((text) => /reverse proxy|untrusted proxy/i.test(text));
  const words = lines.flatMap((text) => text.split(/[\s,;()'"]+/)).map((word) => word.replace(/[.:]$/, ''));
  return words.find((word) => isIP(word) > 0);
}
