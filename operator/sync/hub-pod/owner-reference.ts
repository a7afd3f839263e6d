import type { Hub } from '../../kinds';
import { isNotFound } from '../../runtime/api-errors';
import { refersTo } from '../../runtime/object-ownership';
import { type ClusterObject, pathOf, type ResourceType } from '../../runtime/objects';
import type { Services } from '../services';

/**
 * Removes the owner reference to a Hub from an object. References to other owners stay. A reference is only
 * ever added when an object is created (rules.md, "Storage").
 *
 * @throws ApiError a conflict, if the object was changed since it was read
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
      // The list is replaced as a whole, so the object must be unchanged since it was read.
      body: { metadata: { uid, resourceVersion, ownerReferences: others } },
    });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
