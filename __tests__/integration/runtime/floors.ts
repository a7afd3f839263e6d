import { API_GROUP, API_VERSION } from '../../../operator/kinds/group';
import type { ResourceType } from '../../../operator/runtime/objects';
import type { CustomResource } from '../../../operator/kinds/resource';
import type { ApiClient } from '../../../operator/runtime/api-client';
import { applyAs } from '../../cluster/admin-cluster';

/** One of our kinds without an operator that reconciles it: the tests are its controller. */
export const floors: ResourceType = {
  group: API_GROUP,
  version: API_VERSION,
  plural: 'hubfloors',
  kind: 'HubFloor',
};

const floor = (namespace: string, name: string) => ({
  apiVersion: `${API_GROUP}/${API_VERSION}`,
  kind: floors.kind,
  metadata: { namespace, name },
  spec: { hubRef: { name: 'nowhere' }, name },
});

/** Creates a floor, as a user does. */
export function createFloor(cluster: ApiClient, namespace: string, name: string): Promise<CustomResource> {
  return applyAs<CustomResource>(cluster, 'user', floors, floor(namespace, name));
}
