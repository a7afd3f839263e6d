import type { Hub } from '../../kinds';
import { type ClusterObject, pathOf } from '../../runtime/objects';
import { ownerReferenceTo } from '../../runtime/object-ownership';
import { builtin } from '../../runtime/types';
import type { Services } from '../services';

/**
 * Creates a Secret with values that the operator generated for a Hub. The values are generated once, so an
 * existing Secret is never changed.
 *
 * @param owned whether the Secret is deleted with the Hub
 * @throws ApiError from the API server; a conflict if the Secret exists, though it may not be in the cache
 * yet
 */
export async function createGeneratedSecret(
  services: Pick<Services, 'applier' | 'cache' | 'cluster'>,
  hub: Hub,
  { name, values, owned }: { name: string; values: Readonly<Record<string, string>>; owned: boolean },
): Promise<ClusterObject> {
  const { namespace } = hub.metadata;
  const secret = await services.cluster.request<ClusterObject>({
    method: 'POST',
    path: pathOf(builtin.Secret, namespace),
    body: {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        name,
        namespace,
        labels: services.applier.labels(hub),
        ...(owned && { ownerReferences: [ownerReferenceTo(hub)] }),
      },
      stringData: values,
    },
  });
  services.cache.recordWrite({ ...secret, kind: builtin.Secret.kind });
  return secret;
}
