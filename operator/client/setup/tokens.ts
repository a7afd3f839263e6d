import { randomBytes } from 'node:crypto';
import type { Clock } from '../../base/clock';
import { undefinedIf } from '../../base/undefined-if';
import type { HubConnection } from '../connection/connection';
import { HubRejected } from '../connection/errors';
import { type HubUser, type TokenRecord } from '../connection/api-types';

/**
 * Creates a long-lived token of the connection's user, named `<owner> <time> <random>`: the hub rejects a second token
 * of the same name with "Unknown error", even if the first has expired. The hub never returns the token again.
 *
 * @param owner prefix that identifies the operator's tokens, for example with the Hub's UID
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

/** Lists all logins and tokens of the connection's user. */
export function listTokens(connection: HubConnection): Promise<readonly TokenRecord[]> {
  return connection.command('auth/refresh_tokens');
}

/** The part of the name that `createToken` appends to the owner. */
const SUFFIX = / \d{4}-\d\d-\d\dT[\d:.]+Z [0-9a-f]{8}$/;

/**
 * Revokes the long-lived tokens that `createToken` has made, except `keep`. Must be called only after `keep`
 * is stored. @returns the number of revoked tokens
 *
 * @param isOwn whether tokens of this owner are to be revoked
 */
export async function revokeOldTokens(
  connection: HubConnection,
  isOwn: (owner: string) => boolean,
  keep: string,
): Promise<number> {
  const keptId = tokenId(keep);
  if (keptId === undefined) return 0; // without an id, the kept token would be revoked too
  const records = await listTokens(connection);
  const old = records.filter(
    ({ type, client_name: name = null, id }) =>
      type === 'long_lived_access_token' &&
      name !== null &&
      SUFFIX.test(name) &&
      isOwn(name.replace(SUFFIX, '')) &&
      id !== keptId,
  );
  const isGone = (error: unknown) => error instanceof HubRejected && error.code === 'invalid_token_id';
  for (const { id } of old)
    await undefinedIf(isGone, connection.command('auth/delete_refresh_token', { refresh_token_id: id }));
  return old.length;
}

/** The user of the connection's token; also verifies the token. @throws TokenRejected */
export function currentUser(connection: HubConnection): Promise<HubUser> {
  return connection.command('auth/current_user');
}

/**
 * The id of a token's {@link TokenRecord}, which is the issuer of the JWT; undefined if the token is not a
 * JWT.
 */
export function tokenId(token: string): string | undefined {
  return claimsOf(token)?.iss;
}

/** Times of issue and expiry of a token in milliseconds since the epoch; undefined if the token has none. */
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
    return undefined; // a value that a user put into the Secret may not be a JWT
  }
}
