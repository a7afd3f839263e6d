import { isDeepStrictEqual } from 'node:util';
import { getConfig } from '../../operator/client/setup/core';
import type { HubClient } from '../../operator/client/hub-client';
import { until } from '.';

type Settings = Readonly<Record<string, unknown>>;

/** Resolves when the hub has started completely. */
export function running(client: HubClient): Promise<unknown> {
  return until('the hub runs', async () => (await getConfig(client.rest)).state === 'RUNNING');
}

/**
 * Changes settings of the hub's web server in the way of its settings page: the hub restarts with the new
 * settings on trial, and is told to keep them. Resolves when the hub has kept them.
 */
export async function changeHttpSettings(client: HubClient, changes: Settings): Promise<void> {
  const { connection, rest } = client;
  await running(client);
  const { stable } = await connection.command('http/config');
  const { created_at: _at, error: _error, error_message: _message, ...settings } = stable as Settings;
  const port = Number(new URL(rest.address.url).port);
  const config = { ...settings, server_port: port, ...changes };
  const { restart } = await connection.command('http/config/configure', { config });
  if (!restart) throw new Error('the hub takes the settings without a restart: it had them before');
  await until('the hub runs with the new settings', async () => {
    const present = await connection.command('http/config');
    if (present.active_config_type === 'pending') await connection.command('http/config/promote');
    const kept = Object.entries(changes).every(([key, value]) =>
      isDeepStrictEqual((present.stable as Settings)[key], value),
    );
    return kept && present.active_config_type === 'stable';
  });
  await running(client);
}
