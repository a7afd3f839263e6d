import { createHmac, randomBytes } from 'node:crypto';
import type { Credentials } from '../../../client/setup/onboarding';
import type { Hub, HubSpec } from '../../../kinds';
import { objectNames } from '../../../kinds/object-names';
import type { ClusterObject } from '../../../runtime/objects';
import { isConflict } from '../../../runtime/api-errors';
import { readNamedSecret, SecretRefused } from '../../../runtime/named-secret';
import { FIELD_MANAGER, MANAGED_BY_LABEL } from '../../../runtime/object-ownership';
import { builtin } from '../../../runtime/types';
import type { Services } from '../../services';
import { createGeneratedSecret } from '../../hub-pod/generated-secret';
import { removeOwnerReference } from '../../hub-pod/owner-reference';
import { configClaimOf, podOf } from '../../hub-pod/owned-objects';
import { keepsVolume } from '../../hub-pod/retain';
import type { MissingValue } from '../../hub-connection/secret-value';
import { type LoginFailed, NoPasswordLogin } from '../../../client/connection/errors';
import type { Cache } from '../../../runtime/cache';
import { PerHub } from '../../hub-connection/per-hub';

export interface OwnerCredentials {
  readonly credentials: Credentials;
  /**
   * Identifies the credentials and the volume of the hub, without revealing the credentials: the digest is
   * keyed with a value that only readers of the Secret know. On another volume the hub has other users.
   */
  readonly digest: string;
}

export type CredentialServices = Pick<Services, 'applier' | 'cache' | 'cluster' | 'secrets' | 'settings'>;

const GENERATED_USER = 'admin';

/**
 * Reads the credentials of the hub's owner. Without `bootstrap.credentials`, the Secret `<hub>-admin` is
 * generated once, if `mayGenerate` allows it. A hub that already has an owner would not know a new password.
 */
export async function ownerCredentials(
  services: CredentialServices,
  hub: Hub,
  { bootstrap }: HubSpec,
  mayGenerate: boolean,
): Promise<OwnerCredentials | MissingValue> {
  const given = bootstrap.credentials?.secretRef;
  const { namespace, name } = hub.metadata;
  const secretName = given?.name ?? objectNames(name).admin;
  let secret;
  try {
    secret = await readCredentials(services, hub, secretName, given !== undefined);
  } catch (error) {
    if (!(error instanceof SecretRefused)) throw error;
    return { missing: error.message, isRefused: true };
  }
  if (!secret) {
    if (given)
      return {
        missing: `The Secret ${secretName} of bootstrap.credentials.secretRef does not exist: create it.`,
      };
    if (mayGenerate) return generate(services, hub, secretName);
    return {
      missing: `The hub has an owner already: store the owner's username and password in a Secret ${secretName}, or name another in bootstrap.credentials.secretRef.`,
    };
  }
  const usernameKey = given?.usernameKey ?? 'username';
  const passwordKey = given?.passwordKey ?? 'password';
  const username = secret.get(usernameKey);
  const password = secret.get(passwordKey);
  if (!username || !password) {
    return {
      missing: `The Secret ${secretName} needs values under the keys ${usernameKey} and ${passwordKey}.`,
    };
  }
  const { uid = '' } = services.cache.get(builtin.Secret.kind, namespace, secretName)?.metadata ?? {};
  // The hub stores user names in lower case, without surrounding blanks.
  return withDigest({ username: username.trim().toLowerCase(), password }, uid, volumeOf(services, hub));
}

/** @throws SecretRefused */
async function readCredentials(
  services: CredentialServices,
  { metadata: { namespace, name: hub } }: Hub,
  name: string,
  isNamed: boolean,
): Promise<ReadonlyMap<string, string> | undefined> {
  // A login that was generated for a former Hub is still valid in the hub on its volume, so that Secret may
  // be named too.
  const labels = services.cache.get(builtin.Secret.kind, namespace, name)?.metadata.labels;
  const isLogin = name.endsWith(objectNames('').admin) && labels?.[MANAGED_BY_LABEL] === FIELD_MANAGER;
  if (!isNamed || isLogin || name === objectNames(hub).admin) return services.secrets.get(namespace, name);
  const field = 'spec.bootstrap.credentials.secretRef';
  return (await readNamedSecret(services, { namespace, hub, name, field, use: 'OwnerLogin' }))?.values;
}

/**
 * Removes the owner reference from the generated Secret of a Hub whose volume outlives it: the volume cannot
 * be used without these credentials. Secrets of users are never changed.
 */
export async function releaseCredentials(
  { cache, applier, cluster }: CredentialServices,
  hub: Hub,
): Promise<void> {
  const { namespace, name } = hub.metadata;
  const secret = cache.get<ClusterObject>(builtin.Secret.kind, namespace, objectNames(name).admin);
  if (!secret || !applier.isOurs(secret, hub) || !keepsVolume({ cache }, hub)) return;
  try {
    await removeOwnerReference({ cluster }, hub, builtin.Secret, secret);
  } catch (error) {
    // The Secret was changed since it was read. That change requeues the Hub.
    if (!isConflict(error)) throw error;
  }
}

async function generate(
  services: CredentialServices,
  hub: Hub,
  secretName: string,
): Promise<OwnerCredentials | MissingValue> {
  const credentials = { username: GENERATED_USER, password: randomBytes(24).toString('base64url') };
  try {
    const secret = await createGeneratedSecret(services, hub, {
      name: secretName,
      values: { ...credentials },
      owned: !keepsVolume(services, hub),
    });
    return withDigest(credentials, secret.metadata.uid ?? '', volumeOf(services, hub));
  } catch (error) {
    // The previous reconcile created the Secret, and it is not in the cache yet.
    if (isConflict(error)) return { missing: `The Secret ${secretName} was created a moment ago.` };
    throw error;
  }
}

function withDigest(credentials: Credentials, secretUid: string, volume: string): OwnerCredentials {
  const { username, password } = credentials;
  const hmac = createHmac('sha256', secretUid).update(`${username}\n${password}\n${volume}`);
  return { credentials, digest: `hmac-sha256:${hmac.digest('hex')}` };
}

/**
 * The claim that the pod mounts: its uid, or its name if it is not the operator's, since the cache has no other
 * claims.
 */
function volumeOf({ cache }: Pick<Services, 'cache'>, hub: Hub): string {
  const name = configClaimOf(podOf({ cache }, hub)?.spec) ?? '';
  const { kind } = builtin.PersistentVolumeClaim;
  return cache.get<ClusterObject>(kind, hub.metadata.namespace, name)?.metadata.uid ?? name;
}

/**
 * The bootstrap cannot continue without a person. `reason` becomes the reason of the condition
 * `BootstrapReady`.
 */
export interface Stuck {
  readonly type: 'stuck';
  readonly reason: 'MissingCredentials' | 'LoginFailed' | 'SecretRefused';
  readonly message: string;
}

/**
 * Credentials that a hub has rejected, by their digest. While they and the volume are unchanged they are not
 * sent again (rules.md, "Bootstrap"), since every attempt means two failed logins, which count towards a ban. The digest
 * is in the status, so that a restart of the operator causes no further attempt.
 */
export class RejectedCredentials {
  /** Rejections that the status may not show yet. Null: the hub has accepted credentials since. */
  private readonly entries: PerHub<{ readonly digest: string; readonly stuck: Stuck } | null>;

  constructor(private readonly cache: Pick<Cache, 'get'>) {
    this.entries = new PerHub(cache);
  }

  record(hub: Hub, digest: string, error: LoginFailed): Stuck {
    const isByConfiguration = error instanceof NoPasswordLogin;
    const stuck = isByConfiguration ? noPasswordLogin(error) : loginFailed(error.message);
    this.entries.set(hub, { digest: isByConfiguration ? this.withPod(hub, digest) : digest, stuck });
    return stuck;
  }

  /**
   * The rejection of these credentials, if any. If the cause was that the configuration allows no login with
   * a password, the rejection counts only for the pod that gave it.
   */
  find(hub: Hub, digest: string): Stuck | undefined {
    const rejected = this.digest(hub);
    if (rejected === this.withPod(hub, digest)) return noPasswordLogin(new NoPasswordLogin());
    if (rejected !== digest) return undefined;
    return this.entries.get(hub)?.stuck ?? loginFailed('the hub has rejected these credentials');
  }

  /** Records that the hub has accepted credentials. */
  clear(hub: Hub): void {
    this.entries.set(hub, null);
  }

  /** The digest of the credentials that were rejected last, for the status. Null when none were rejected. */
  digest(hub: Hub): string | null {
    const entry = this.entries.get(hub);
    const { rejectedCredentials = null } = hub.status?.bootstrap ?? {};
    return entry === undefined ? rejectedCredentials : (entry?.digest ?? null);
  }

  /**
   * The digest, tied to the current pod. A pod has one configuration as long as it lives, but the status
   * already shows the next configuration before the pod is replaced. So a rejection is recorded with the pod
   * that gave it.
   */
  private withPod(hub: Hub, digest: string): string {
    return `${digest} by pod ${podOf({ cache: this.cache }, hub)?.metadata.uid ?? ''}`;
  }
}

function noPasswordLogin({ message: cause }: NoPasswordLogin): Stuck {
  const message = `${cause}: add it to homeassistant.auth_providers of the HubConfiguration, or remove that section. The login is tried again when the hub has another pod, as it gets for another configuration.`;
  return { type: 'stuck', reason: 'LoginFailed', message };
}

function loginFailed(cause: string): Stuck {
  const message = `${cause}: correct the Secret with the owner's credentials. Unchanged credentials are sent again only to the hub on another volume, or when the annotation reconcile-requested-at is set.`;
  return { type: 'stuck', reason: 'LoginFailed', message };
}
