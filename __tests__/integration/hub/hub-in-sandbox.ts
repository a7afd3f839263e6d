import { readFile } from 'node:fs/promises';
import { request } from 'node:http';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { HubClient } from '../../../operator/client/hub-client';
import { sandboxDirectory } from '../../cluster';
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

/** Logs in wrongly from an address until the hub bans it. */
export async function getBanned(address: string, url: string): Promise<void> {
  for (let attempt = 0; attempt < 10; attempt++) {
    if ((await statusFrom(address, url, '/manifest.json')) === 403) return;
    await statusFrom(address, url, '/api/config', 'wrong');
  }
  throw new Error(`the hub does not ban ${address}`);
}

/** The process of the hub's container. */
export async function hubPid(home: Home, hubName: string): Promise<number> {
  const { metadata } = await home.get('pod', `${hubName}-0`);
  const pods = join(sandboxDirectory(), 'node', 'pods');
  const directory = (await readdir(pods)).find((name) => name.endsWith(metadata.uid))!;
  return Number(await readFile(join(pods, directory, 'hub.pid'), 'utf8'));
}
