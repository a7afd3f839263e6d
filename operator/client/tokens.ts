import { randomBytes } from 'node:crypto';
import type { Clock } from '../clock';
import type { HubConnection } from './connection';
import { HubRejected } from './errors';
import { type HubUser, type TokenRecord } from './api-types';

/**
 * Makes a long-lived token named `<owner> <time> <random>`: the hub refuses a second one of the same name, even when
 * the first has expired, with no more than "Unknown error". It belongs to the connection's user and is shown once.
 *
 * @param owner prefix that tells our tokens from others, e.g. with the Hub's UID
 */
export async function createToken(
  connection: HubConnection,
  { owner, lifespanDays, clock }: { owner: string; lifespanDays: number; clock: Clock },
): Promise<string> {
  const uniqueName = `${owner} ${new Date(clock.now()).toISOString()} ${randomBytes(4).toString('hex')}`;
  return connection.command('auth/long_lived_access_token', {
    client_name: uniqueName,
    lifespan: lifespanDays,
  });
}

/** All logins and tokens of the connection's user. */
export function listTokens(connection: HubConnection): Promise<TokenRecord[]> {
  return connection.command('auth/refresh_tokens');
}

/**
 * Revokes our long-lived tokens (`owner` as given to `createToken`) but for `keep`. Call it only when `keep` is
 * safely stored. Resolves with how many went.
 */
export async function revokeOldTokens(
  connection: HubConnection,
  owner: string,
  keep: string,
): Promise<number> {
  const keptId = tokenId(keep);
  const records = await listTokens(connection);
  const old = records.filter(
    (record) =>
      record.type === 'long_lived_access_token' &&
      record.client_name?.startsWith(`${owner} `) === true &&
      record.id !== keptId,
  );
  for (const { id } of old) await revokeToken(connection, id);
  return old.length;
}

/** The user of the connection's token; connecting with it is what verifies it. @throws TokenRejected */
export function currentUser(connection: HubConnection): Promise<HubUser> {
  return connection.command('auth/current_user');
}

/** The id of a token's record: the issuer of that JWT; undefined when it is none. */
export function tokenId(token: string): string | undefined {
  return claimsOf(token)?.iss;
}

/** When a token was made and when it ends, in milliseconds since the epoch; undefined when it does not say. */
export function tokenValidity(token: string): { readonly from: number; readonly until: number } | undefined {
  const { iat, exp } = claimsOf(token) ?? {};
  return typeof iat === 'number' && typeof exp === 'number'
    ? { from: iat * 1_000, until: exp * 1_000 }
    : undefined;
}

function claimsOf(token: string): { iss?: string; iat?: unknown; exp?: unknown } | undefined {
  try {
    return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { iss?: string };
  } catch {
    return undefined; // a token that somebody put into the Secret by hand may be anything
  }
}

async function revokeToken(connection: HubConnection, id: string): Promise<void> {
  try {
    await connection.command('auth/delete_refresh_token', { refresh_token_id: id });
  } catch (error) {
    const goneAlready = error instanceof HubRejected && error.code === 'invalid_token_id';
    if (!goneAlready) throw error;
  }
}
