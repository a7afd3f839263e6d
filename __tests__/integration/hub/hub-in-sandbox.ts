import { readFile } from 'node:fs/promises';
import { request } from 'node:http';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { HubClient } from '../../../operator/client/hub-client';
import { sandboxDirectory, until } from '../../cluster';
import type { Home } from '../../cluster/home';
import { changeHttpSettings } from '../../cluster/http-settings';

// Manipulates a hub without the operator.

/** The address under which the hub sees the operator. Probes and tests come from 127.0.0.1. */
export const OPERATOR_ADDRESS = '127.0.0.2';

/** Sends a request from a source address, with or without a token. Returns the HTTP status. */
export function statusFrom(address: string, url: string, path: string, token?: string): Promise<number> {
  const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  return new Promise((resolve, reject) => {
    request(new URL(path, url), { localAddress: address, agent: false, headers }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    })
      .on('error', reject)
      .end();
  });
}

/** Makes the hub ban an address after `threshold` failed logins. The hub restarts for it. */
export function setLoginThreshold(client: HubClient, threshold: number): Promise<void> {
  return changeHttpSettings(client, { login_attempts_threshold: threshold, ip_ban_enabled: true });
}

/** The number of concurrent logins: the highest threshold of these tests. */
const LOGINS_AT_ONCE = 3;

/** Sends wrong logins from an address until the hub bans it. */
export async function getBanned(address: string, url: string): Promise<void> {
  const wrongLogin = () => statusFrom(address, url, '/api/config', 'wrong');
  await until(`the hub bans ${address}`, async () => {
    // The logins are concurrent: a request of the operator from that address in between would reset the hub's
    // count.
    const answers = await Promise.all(
      Array.from({ length: LOGINS_AT_ONCE }, () => wrongLogin().catch(() => undefined)),
    );
    // A hub that does not answer is being restarted because of the ban.
    const status = await statusFrom(address, url, '/manifest.json').catch(() => undefined);
    return status === 403 || (status === undefined && answers.some((answer) => answer !== undefined));
  });
}

/** Returns the process id of the hub's container. */
export async function hubPid(home: Home, hubName: string): Promise<number> {
  const { metadata } = await home.get('pod', `${hubName}-0`);
  const pods = join(sandboxDirectory(), 'node', 'pods');
  const directory = (await readdir(pods)).find((name) => name.endsWith(metadata.uid))!;
  return Number(await readFile(join(pods, directory, 'hub.pid'), 'utf8'));
}
