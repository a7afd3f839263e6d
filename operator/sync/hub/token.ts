import type { Hub, HubSpec } from '../../kinds';
import { objectNames } from '../../kinds/object-names';
import { builtin } from '../../runtime/types';
import type { Services } from '../services';

/** Key of the token in its Secret. */
const TOKEN_KEY = 'token';

export function tokenSecretName(hub: Hub, { bootstrap }: HubSpec): string {
  return bootstrap.apiTokenSecretName ?? objectNames(hub.metadata.name).apiToken;
}

/** The operator's API token, undefined while its Secret does not exist (or has no such key). */
export async function readToken({ secrets }: Services, hub: Hub, spec: HubSpec): Promise<string | undefined> {
  const secret = await secrets.get(hub.metadata.namespace, tokenSecretName(hub, spec));
  return secret?.get(TOKEN_KEY)?.trim() || undefined;
}

export async function storeToken({ applier }: Services, hub: Hub, spec: HubSpec, token: string): Promise<void> {
  const metadata = { name: tokenSecretName(hub, spec), namespace: hub.metadata.namespace };
  const data = { [TOKEN_KEY]: Buffer.from(token).toString('base64') };
  await applier.apply(builtin.Secret, { apiVersion: 'v1', kind: 'Secret', metadata, type: 'Opaque', data }, { owner: hub });
}
