import { KubeConfig } from '@kubernetes/client-node';
import { systemClock } from '../../operator/base/clock';
import { type ClusterObject, pathOf, type ResourceType } from '../../operator/runtime/objects';
import { ApiClient, type ApiClientOptions } from '../../operator/runtime/api-client';
import { kubeconfig } from '.';

const open: ApiClient[] = [];

afterAll(() => {
  for (const cluster of open.splice(0)) cluster.close();
});

/** The operator's own way to call the cluster, as administrator; it is closed when the test file is through. */
export function adminCluster(options: Partial<ApiClientOptions> = {}): ApiClient {
  const config = new KubeConfig();
  config.loadFromFile(kubeconfig());
  const cluster = new ApiClient(config, { clock: systemClock, ...options });
  open.push(cluster);
  return cluster;
}

/** Writes as another field manager than the operator: another client of the same objects. */
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
