import type { HubConnection } from '../../client/connection/connection';
import type { HubAccess, HubClient } from '../../client/hub-client';
import { createToken, revokeOldTokens, tokenValidity } from '../../client/setup/tokens';
import type { Hub, HubSpec } from '../../kinds';
import { API_TOKEN_LABELS, objectNames } from '../../kinds/object-names';
import type { Manifest } from '../../runtime/apply';
import { builtin } from '../../runtime/types';
import type { Services } from '../services';
import { type MissingValue, secretValue } from './secret-value';
import { TOKEN_RENEWAL } from '../../base/limits';
import type { ClusterObject } from '../../runtime/objects';
import { PerHub } from './per-hub';
import { hubConnection } from './service-address';

/** Key of the token in its Secret (rules.md, "Token"). */
const TOKEN_KEY = 'token';

export function tokenSecretName(hub: Hub, { bootstrap }: Pick<HubSpec, 'bootstrap'>): string {
  return bootstrap.apiTokenSecretName ?? objectNames(hub.metadata.name).apiToken;
}

export type TokenServices = Pick<Services, 'applier' | 'cache' | 'clock'>;

/** The address and the token of a hub, or a sentence about the missing part. */
type Access = { readonly access: HubAccess } | MissingValue;

/** @param url address of a hub that the operator runs; an external hub has its URL in the spec */
export async function resolveAccess(
  services: Pick<Services, 'applier' | 'cache' | 'secrets' | 'settings'>,
  hub: Hub,
  spec: Pick<HubSpec, 'bootstrap' | 'external'>,
  url: string,
): Promise<Access> {
  const { external } = spec;
  const reference = external
    ? { ...external.tokenSecretRef, field: 'spec.external.tokenSecretRef', use: 'ExternalToken' as const }
    : {
        name: tokenSecretName(hub, spec),
        key: TOKEN_KEY,
        ...(tokenSecretName(hub, spec) !== objectNames(hub.metadata.name).apiToken && {
          field: 'spec.bootstrap.apiTokenSecretName',
        }),
        byBootstrap: spec.bootstrap.enabled,
      };
  const token = await secretValue(services, hub, reference);
  if ('missing' in token) return token;
  const { hubSourceAddress, allowLocalHubs: allowLocal } = services.settings;
  const access = { url, token: token.value.trim() };
  if (!external) return { access: { ...access, ...hubConnection(services, hub) } };
  // The schema accepts some invalid URLs, such as one with the port 99999.
  if (!URL.canParse(external.url)) return { missing: `external.url is no valid URL: ${external.url}.` };
  const ca =
    external.caSecretRef &&
    (await secretValue(services, hub, { ...external.caSecretRef, field: 'spec.external.caSecretRef' }));
  if (ca && 'missing' in ca) return ca;
  // Only the origin is used: `http://hub/` is the same hub as `http://hub`.
  return {
    access: {
      ...access,
      url: new URL(external.url).origin,
      localAddress: hubSourceAddress || undefined,
      ca: ca?.value,
      untrusted: true,
      allowLocal,
    },
  };
}

/**
 * The owner in the name of a long-lived token of the operator, which users see in their profile in the hub.
 */
const TOKEN_OWNER = /^Hub Operator [^ /]+\/[^ /]+$/;

/**
 * Revokes all tokens of the operator except the stored token `keep`: tokens that a crash kept from being
 * stored, and tokens of earlier Hubs on this volume, also under other names. A volume serves one Hub.
 */
export function revokeOtherTokens(connection: HubConnection, keep: string): Promise<number> {
  return revokeOldTokens(connection, (owner) => TOKEN_OWNER.test(owner), keep);
}

/**
 * Creates a token for the user of the connection and stores it. Earlier tokens stay valid.
 *
 * @throws NameConflict the Secret for it belongs to another owner
 */
export async function issueToken(
  services: TokenServices,
  hub: Hub,
  spec: HubSpec,
  connection: HubConnection,
): Promise<string> {
  const { applier, clock } = services;
  const { namespace, name } = hub.metadata;
  // The Secret is checked first, since otherwise every reconcile would leave a token in the hub that cannot
  // be stored.
  await applier.dryRun(builtin.Secret, tokenSecret(hub, spec, ''), { owner: hub });
  const { tokenLifespanDays: lifespanDays } = spec.bootstrap;
  const owner = `Hub Operator ${namespace}/${name}`;
  const token = await createToken(connection, { owner, lifespanDays, clock });
  await applier.apply(builtin.Secret, tokenSecret(hub, spec, token), { owner: hub });
  for (const former of supersededSecrets(services, hub, tokenSecretName(hub, spec)))
    await applier.remove(builtin.Secret, hub, former);
  return token;
}

function tokenSecret(hub: Hub, spec: HubSpec, token: string): Manifest {
  const { namespace } = hub.metadata;
  const metadata = { name: tokenSecretName(hub, spec), namespace, labels: API_TOKEN_LABELS };
  const data = { [TOKEN_KEY]: Buffer.from(token).toString('base64') };
  return { apiVersion: 'v1', kind: 'Secret', metadata, type: 'Opaque', data };
}

/** The operator's Secrets with a token of this Hub under an earlier name. */
function supersededSecrets({ cache, applier }: TokenServices, hub: Hub, current: string): string[] {
  const labels = Object.entries({ ...API_TOKEN_LABELS, ...applier.labels(hub) });
  return [...cache.list(builtin.Secret.kind, hub.metadata.namespace)]
    .filter(
      ({ metadata }) =>
        metadata.name !== current && labels.every(([key, value]) => metadata.labels?.[key] === value),
    )
    .map(({ metadata }) => metadata.name);
}

/**
 * Replaces the token before it expires, while it can still create its successor without the owner's password.
 * The old token is revoked once the new one has been used, since other components use the old token until
 * they see the changed Secret.
 */
export class TokenRenewal {
  /**
   * The token of each Hub beside which the hub has none of the operator. A new process does not know: the one
   * before may have ended between the issue of a token and its first use.
   */
  private readonly sole: PerHub<string>;
  /** The former token of each Hub, which the token in the Secret replaces. */
  private readonly superseded: PerHub<string>;

  constructor(private readonly services: TokenServices) {
    this.sole = new PerHub(services.cache);
    this.superseded = new PerHub(services.cache);
  }

  /**
   * Revokes the other tokens of the operator, once for each token: superseded ones, and those that a crash or an
   * earlier Hub of this name has left in the hub, and no Secret holds.
   *
   * @param token the token that the hub has just accepted
   */
  async revokeOthers(hub: Hub, spec: HubSpec, client: HubClient, token: string): Promise<void> {
    if (this.sole.get(hub) === token) return;
    if (hub.status?.bootstrap?.state === 'Done' && !this.isOurs(hub, spec)) return;
    await revokeOtherTokens(client.connection, token);
    this.sole.set(hub, token);
  }

  /** @param token the token that the hub has just accepted */
  async ensureFresh(hub: Hub, spec: HubSpec, client: HubClient, token: string): Promise<void> {
    if (this.superseded.get(hub) === token) return; // the Secret has another one already
    if (!this.isOurs(hub, spec) || !renewalDue(token, this.services.clock.now())) return;
    await issueToken(this.services, hub, spec, client.connection);
    this.superseded.set(hub, token);
  }

  private isOurs(hub: Hub, spec: HubSpec): boolean {
    const secret = this.services.cache.get<ClusterObject>(
      builtin.Secret.kind,
      hub.metadata.namespace,
      tokenSecretName(hub, spec),
    );
    return secret !== undefined && this.services.applier.isOurs(secret, hub);
  }
}

/**
 * Reports whether a token is in the last tenth of its lifetime and at most 30 days before its end. False if
 * the token has no end.
 */
export function renewalDue(token: string, now: number): boolean {
  const life = tokenValidity(token);
  if (!life) return false;
  return now >= life.until - Math.min(TOKEN_RENEWAL, (life.until - life.from) / 10);
}
