import { KubeConfig } from '@kubernetes/client-node';
import { systemClock } from '../../operator/base/clock';
import { type ClusterObject, pathOf, type ResourceType } from '../../operator/runtime/objects';
import { ApiClient, type ApiClientOptions } from '../../operator/runtime/api-client';
import { kubeconfig } from '.';

const open: ApiClient[] = [];

afterAll(() => {
  for (const cluster of open.splice(0)) cluster.close();
});

/**
 * Returns the operator's own API client with the rights of the administrator. The client is closed at the end
 * of the test file.
 */
export function adminCluster(options: Partial<ApiClientOptions> = {}): ApiClient {
  const config = new KubeConfig();
  config.loadFromFile(kubeconfig());
  const cluster = new ApiClient(config, { clock: systemClock, ...options });
  open.push(cluster);
  return cluster;
}

/**
 * Applies an object with another field manager than the operator's, as another client of the same object
 * does.
 */
export function applyAs<T extends ClusterObject>(
  cluster: ApiClient,
  fieldManager: string,
  type: ResourceType,
  object: ClusterObject & Readonly<Record<string, unknown>>,
  subresource?: string,
): Promise<T> {
  const { namespace, name } = object.metadata;
  return cluster.request<T>({
    method: 'PATCH',
    path: pathOf(type, namespace, name, subresource),
    query: { fieldManager },
    contentType: 'application/apply-patch+yaml',
    body: object,
  });
}
