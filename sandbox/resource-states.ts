import { KubeConfig } from '@kubernetes/client-node';
import { kinds } from '../operator/kinds';
import { API_GROUP, API_VERSION } from '../operator/kinds/group';
import { systemClock } from '../operator/base/clock';
import { pathOf } from '../operator/runtime/objects';
import type { CustomResource } from '../operator/kinds/resource';
import { conditionOf } from '../operator/runtime/conditions';
import { ApiClient } from '../operator/runtime/api-client';

/** A resource of one of our kinds and its condition `Ready`. */
export interface ResourceState {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly ready: boolean;
  /** Reason and message of its condition `Ready`. */
  readonly message: string;
  readonly resource: CustomResource;
}

/** Lists the resources of all our kinds in all namespaces. */
export class ResourceStates {
  private readonly cluster: ApiClient;

  constructor(kubeconfig: string) {
    const config = new KubeConfig();
    config.loadFromFile(kubeconfig);
    this.cluster = new ApiClient(config, { clock: systemClock });
  }

  async list(): Promise<ResourceState[]> {
    const lists = await Promise.all(
      kinds.map(async ({ kind, plural }) => {
        const path = pathOf({ group: API_GROUP, version: API_VERSION, plural, kind });
        const { items } = await this.cluster.request<{ items: CustomResource[] }>({ method: 'GET', path });
        return items.map((resource) => stateOf(kind, resource));
      }),
    );
    return lists.flat();
  }

  close(): void {
    this.cluster.close();
  }
}

function stateOf(kind: string, resource: CustomResource): ResourceState {
  const { namespace = '', name, generation } = resource.metadata;
  const condition = conditionOf(resource, 'Ready');
  const ready = condition?.status === 'True' && condition.observedGeneration === generation;
  const message = condition ? `${condition.reason}: ${condition.message}` : 'not reconciled yet';
  return { kind, namespace, name, ready, message, resource };
}
