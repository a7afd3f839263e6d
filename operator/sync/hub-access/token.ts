import type { HubConnection } from '../../client/connection/connection';
import type { HubAccess } from '../../client/hub-client';
import { createToken, revokeOldTokens } from '../../client/setup/tokens';
import type { Hub, HubSpec } from '../../kinds/index';
import { objectNames } from '../../kinds/object-names';
import type { Manifest } from '../../runtime/apply';
import { builtin } from '../../runtime/types';
import type { Services } from '../services';
import { type MissingValue, secretValue } from './secret-value';

/** Key of the token in its Secret (rules.md, "Token"). */
const TOKEN_KEY = 'token';

/** Label that distinguishes the token Secret from the operator's other Secrets. */
const COMPONENT = { 'app.kubernetes.io/component': 'api-token' };

export function tokenSecretName(hub: Hub, { bootstrap }: HubSpec): string {
  return bootstrap.apiTokenSecretName ?? objectNames(hub.metadata.name).apiToken;
}

export type TokenServices = Pick<Services, 'applier' | 'cache' | 'clock'>;

/** The address and the token of a hub, or the one that is missing. */
export type Access = { readonly access: HubAccess } | MissingValue;

/** @param url of a hub that the operator runs; that of an external hub is in its spec */
export async function resolveAccess(
  services: Pick<Services, 'applier' | 'cache' | 'secrets' | 'settings'>,
  hub: Hub,
  spec: HubSpec,
  url: string,
): Promise<Access> {
  const { external } = spec;
  const reference = external
    ? { ...external.tokenSecretRef, field: 'spec.external.tokenSecretRef', isExternalToken: true }
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
  const access = { url, token: token.value.trim(), localAddress: hubSourceAddress || undefined };
  if (!external) return { access };
  // The schema accepts some invalid URLs, such as one with the port 99999.
  if (!URL.canParse(external.url)) return { missing: `external.url is no valid URL: ${external.url}.` };
  const ca =
    external.caSecretRef &&
    (await secretValue(services, hub, { ...external.caSecretRef, field: 'spec.external.caSecretRef' }));
  if (ca && 'missing' in ca) return ca;
  // `http://hub/` is the same hub as `http://hub`.
  return {
    access: { ...access, url: new URL(external.url).origin, ca: ca?.value, untrusted: true, allowLocal },
  };
}

/** The owner of a long-lived token of the operator: a part of its name, which people see in their profile. */
const tokenOwner = (namespace: string, name: string): string => `Hub Operator ${namespace}/${name}`;
const TOKEN_OWNER = /^Hub Operator [^ /]+\/[^ /]+$/;

/**
 * Revokes all tokens of the operator but `keep`, which is stored: those that a crash kept out of the Secret, and those of
 * earlier Hubs on this volume, also of other names. A volume serves one Hub.
 */
export function revokeOtherTokens(connection: HubConnection, keep: string): Promise<number> {
  return revokeOldTokens(connection, (owner) => TOKEN_OWNER.test(owner), keep);
}

/**
 * Creates a token of the connection's user and stores it. Earlier tokens stay valid.
 *
 * @throws NameConflict the Secret for it belongs to another owner
 */
export async function issueToken(
  services: TokenServices,
  hub: Hub,
  spec: HubSpec,
  connection: HubConnection,
): Promise<string> {
  // Checked first: otherwise every reconcile would leave a token in the hub that cannot be stored.
  await services.applier.dryRun(builtin.Secret, tokenSecret(hub, spec, ''), { owner: hub });
  const { tokenLifespanDays: lifespanDays } = spec.bootstrap;
  const token = await createToken(connection, {
    owner: tokenOwner(hub.metadata.namespace, hub.metadata.name),
    lifespanDays,
    clock: services.clock,
  });
  await storeToken(services, hub, spec, token);
  return token;
}

/** Stores a token, and removes Secrets of an earlier name. */
async function storeToken(services: TokenServices, hub: Hub, spec: HubSpec, token: string): Promise<void> {
  await services.applier.apply(builtin.Secret, tokenSecret(hub, spec, token), { owner: hub });
  for (const former of supersededSecrets(services, hub, tokenSecretName(hub, spec)))
    await services.applier.remove(builtin.Secret, hub, former);
}

function tokenSecret(hub: Hub, spec: HubSpec, token: string): Manifest {
  const { namespace } = hub.metadata;
  const metadata = { name: tokenSecretName(hub, spec), namespace, labels: COMPONENT };
  const data = { [TOKEN_KEY]: Buffer.from(token).toString('base64') };
  return { apiVersion: 'v1', kind: 'Secret', metadata, type: 'Opaque', data };
}

function supersededSecrets({ cache, applier }: TokenServices, hub: Hub, current: string): string[] {
  const labels = Object.entries({ ...COMPONENT, ...applier.labels(hub) });
  return [...cache.list(builtin.Secret.kind, hub.metadata.namespace)]
    .filter(
      ({ metadata }) =>
        metadata.name !== current && labels.every(([key, value]) => metadata.labels?.[key] === value),
    )
    .map(({ metadata }) => metadata.name);
}
