import { randomBytes } from 'node:crypto';
import type { Hub } from '../../kinds';
import { objectNames } from '../../kinds/object-names';
import { isConflict } from '../../runtime/api-errors';
import { type ClusterObject, pathOf } from '../../runtime/objects';
import type { ReconcileContext } from '../../runtime/sync-module';
import { builtin } from '../../runtime/types';
import { createGeneratedSecret } from '../hub-pod/generated-secret';
import type { Services } from '../services';

const KEY = 'hash-key';

/**
 * The random key for hashes of a hub's answers, from the Secret `<hub>-operator`, which is created once. A
 * lost key is replaced: hashes are then recorded again, and the hub is not changed. In a dry run, a missing
 * key is generated but not stored.
 *
 * @returns undefined when the Secret was created a moment ago and is not in the cache yet
 */
export async function hashKey(
  services: Pick<Services, 'applier' | 'cache' | 'cluster' | 'secrets'>,
  hub: Hub,
  { dryRun }: Pick<ReconcileContext, 'dryRun'>,
): Promise<string | undefined> {
  const { namespace, name } = hub.metadata;
  const secretName = objectNames(name).operator;
  const secret = await services.secrets.get(namespace, secretName);
  const present = secret?.get(KEY);
  if (present) return present;
  const key = randomBytes(32).toString('base64url');
  if (dryRun) return key;
  const version = services.cache.get<ClusterObject>(builtin.Secret.kind, namespace, secretName)?.metadata
    .resourceVersion;
  try {
    if (secret) {
      const written = await services.cluster.request<ClusterObject>({
        method: 'PATCH',
        path: pathOf(builtin.Secret, namespace, secretName),
        contentType: 'application/merge-patch+json',
        // With the resource version, only one of two concurrent writers can set the key.
        body: { metadata: { resourceVersion: version }, stringData: { [KEY]: key } },
      });
      services.cache.recordWrite({ ...written, kind: builtin.Secret.kind });
    } else {
      await createGeneratedSecret(services, hub, { name: secretName, values: { [KEY]: key }, owned: true });
    }
    return key;
  } catch (error) {
    if (isConflict(error)) return undefined;
    throw error;
  }
}
