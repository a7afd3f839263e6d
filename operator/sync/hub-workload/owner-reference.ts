import type { Hub } from '../../kinds';
import { isNotFound } from '../../runtime/api-errors';
import { ownerReferenceTo } from '../../runtime/object-ownership';
import { type ClusterObject, pathOf, type ResourceType } from '../../runtime/objects';
import type { Services } from '../services';

/**
 * Adds or removes the owner reference of an object to a Hub, and leaves those of others.
 *
 * @throws ApiError a conflict, when the object was changed since it was read
 */
export async function ensureOwnerReference(
  { cluster }: Pick<Services, 'cluster'>,
  hub: Hub,
  type: ResourceType,
  { metadata }: ClusterObject,
  owned: boolean,
): Promise<void> {
  const { namespace, name, uid, resourceVersion, ownerReferences = [] } = metadata;
  const others = ownerReferences.filter((reference) => reference.uid !== hub.metadata.uid);
  if (owned === others.length < ownerReferences.length) return;
  try {
    await cluster.request({
      method: 'PATCH',
      path: pathOf(type, namespace, name),
      contentType: 'application/merge-patch+json',
      // The list is replaced as a whole, so only if the object is unchanged.
      body: {
        metadata: {
          uid,
          resourceVersion,
          ownerReferences: owned ? [...others, ownerReferenceTo(hub)] : others,
        },
      },
    });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
