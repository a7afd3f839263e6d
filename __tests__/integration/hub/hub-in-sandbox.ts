import { readFile } from 'node:fs/promises';
import { request } from 'node:http';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { HubClient } from '../../../operator/client/hub-client';
import { sandboxDirectory, until } from '../../cluster';
import type { Home } from '../../cluster/home';
import { changeHttpSettings } from '../../cluster/http-settings';

// What these tests do to a hub behind the operator's back.

/** Under which address the hub sees the operator; probes and tests come from 127.0.0.1. */
export const OPERATOR_ADDRESS = '127.0.0.2';

/** The HTTP status of a request from a source address, without a token or with one. */
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

/** Has the hub ban an address after so many failed logins. It restarts for it. */
export function setLoginThreshold(client: HubClient, threshold: number): Promise<void> {
  return changeHttpSettings(client, { login_attempts_threshold: threshold, ip_ban_enabled: true });
}

/** As many as the highest threshold of these tests. */
const LOGINS_AT_ONCE = 3;

/** Logs in wrongly from an address until the hub bans it. */
export async function getBanned(address: string, url: string): Promise<void> {
  const wrongLogin = () => statusFrom(address, url, '/api/config', 'wrong');
  await until(`the hub bans ${address}`, async () => {
    // At once: with a request of the operator from that address in between, the hub counts from zero again.
    const answers = await Promise.all(
      Array.from({ length: LOGINS_AT_ONCE }, () => wrongLogin().catch(() => undefined)),
    );
    // One that does not answer any more is being restarted for the ban.
    const status = await statusFrom(address, url, '/manifest.json').catch(() => undefined);
    return status === 403 || (status === undefined && answers.some((answer) => answer !== undefined));
  });
}

/** The process of the hub's container. */
export async function hubPid(home: Home, hubName: string): Promise<number> {
  const { metadata } = await home.get('pod', `${hubName}-0`);
  const pods = join(sandboxDirectory(), 'node', 'pods');
  const directory = (await readdir(pods)).find((name) => name.endsWith(metadata.uid))!;
  return Number(await readFile(join(pods, directory, 'hub.pid'), 'utf8'));
}
