import type { Hub } from '../../kinds';
import { isNotFound } from '../../runtime/api-errors';
import { refersTo } from '../../runtime/object-ownership';
import { type ClusterObject, pathOf, type ResourceType } from '../../runtime/objects';
import type { Services } from '../services';

/**
 * Removes the owner reference of an object to a Hub, and leaves those of others. A reference is added only by the creation
 * of an object (rules.md, "Storage").
 *
 * @throws ApiError a conflict, when the object was changed since it was read
 */
export async function removeOwnerReference(
  { cluster }: Pick<Services, 'cluster'>,
  hub: Hub,
  type: ResourceType,
  object: ClusterObject,
): Promise<void> {
  if (!refersTo(object, hub)) return;
  const { namespace, name, uid, resourceVersion, ownerReferences = [] } = object.metadata;
  const others = ownerReferences.filter((reference) => reference.uid !== hub.metadata.uid);
  try {
    await cluster.request({
      method: 'PATCH',
      path: pathOf(type, namespace, name),
      contentType: 'application/merge-patch+json',
      // The list is replaced as a whole, so only if the object is unchanged.
      body: { metadata: { uid, resourceVersion, ownerReferences: others } },
    });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
