import { isDeepStrictEqual } from 'node:util';
import { pathOf, type ResourceType } from './objects';
import type { CustomResource, ResourceStatus } from './resource';
import { type Cluster, isNotFound } from './transport';

/** Owner of the fields of `status` in server-side apply. */
const FIELD_MANAGER = 'hub-operator-status';

/**
 * Writes `status` when it differs from what the resource has, and answers with the resource as it is then; without a
 * difference, with the resource as it was. By server-side apply, so that a field that we leave out goes and a field
 * of somebody else stays.
 */
export async function writeStatus<R extends CustomResource>(
  cluster: Cluster,
  type: ResourceType,
  resource: R,
  status: ResourceStatus,
): Promise<R> {
  const wanted = withoutEmpty(status);
  if (isDeepStrictEqual(withoutEmpty(resource.status ?? {}), wanted)) return resource;
  const { name, namespace, uid } = resource.metadata;
  try {
    return await cluster.request<R>({
      method: 'PATCH',
      path: pathOf(type, namespace, name, 'status'),
      query: { fieldManager: FIELD_MANAGER, force: true },
      contentType: 'application/apply-patch+yaml',
      // The uid keeps us from writing onto another resource that took the name meanwhile.
      body: { apiVersion: resource.apiVersion, kind: resource.kind, metadata: { name, namespace, uid }, status: wanted },
    });
  } catch (error) {
    if (isNotFound(error)) return resource; // deleted meanwhile: nobody is left to tell
    throw error;
  }
}

/** JSON knows no `undefined`, and `null` stands for "take this field away". */
function withoutEmpty(status: ResourceStatus): ResourceStatus {
  return Object.fromEntries(Object.entries(status).filter(([, value]) => value !== undefined && value !== null));
}
