import { randomBytes } from 'node:crypto';
import type { Credentials } from '../../client/onboarding';
import type { Hub, HubSpec } from '../../kinds';
import { objectNames } from '../../kinds/object-names';
import { ownerReferenceTo } from '../../runtime/apply';
import { pathOf } from '../../runtime/objects';
import { isConflict } from '../../runtime/transport';
import { builtin } from '../../runtime/types';
import type { Services } from '../services';

/** The owner's credentials, or the sentence that says what is missing. */
export type CredentialsFound = { readonly credentials: Credentials } | { readonly missing: string };

const GENERATED_USER = 'admin';

/** Reads the credentials of the hub's owner; without a Secret of the user's, makes `<hub>-admin` once. */
export async function ownerCredentials(services: Services, hub: Hub, { bootstrap }: HubSpec): Promise<CredentialsFound> {
  const given = bootstrap.credentials?.secretRef;
  const { namespace, name } = hub.metadata;
  const secretName = given?.name ?? objectNames(name).admin;
  const secret = await services.secrets.get(namespace, secretName);
  if (!secret) {
    if (given) return { missing: `The Secret ${secretName} of bootstrap.credentials.secretRef does not exist: create it.` };
    return generate(services, hub, secretName);
  }
  const usernameKey = given?.usernameKey ?? 'username';
  const passwordKey = given?.passwordKey ?? 'password';
  const username = secret.get(usernameKey);
  const password = secret.get(passwordKey);
  if (!username || !password) {
    return { missing: `The Secret ${secretName} needs values under the keys ${usernameKey} and ${passwordKey}.` };
  }
  // The hub knows user names in lower case and without blanks around them only.
  return { credentials: { username: username.trim().toLowerCase(), password } };
}

async function generate(services: Services, hub: Hub, secretName: string): Promise<CredentialsFound> {
  const { namespace } = hub.metadata;
  const credentials = { username: GENERATED_USER, password: randomBytes(24).toString('base64url') };
  try {
    await services.cluster.request({
      method: 'POST',
      path: pathOf(builtin.Secret, namespace),
      body: {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: {
          name: secretName,
          namespace,
          labels: services.applier.labels(hub),
          ownerReferences: [ownerReferenceTo(hub)],
        },
        stringData: credentials,
      },
    });
  } catch (error) {
    // It is there: of the last pass, whose Secret the watch has not brought yet.
    if (isConflict(error)) return { missing: `The Secret ${secretName} was made just now.` };
    throw error;
  }
  return { credentials };
}
