import { HUB_LABEL } from '../operator/kinds/annotations';
import { GROUP_VERSION } from '../operator/kinds/group';
import type { ApiClient } from '../operator/runtime/api-client';
import { isNotFound } from '../operator/runtime/api-errors';
import { pathOf, type ResourceType } from '../operator/runtime/objects';
import { builtin } from '../operator/runtime/types';
import { typeOf } from './resource-type';

const hubs = typeOf('Hub');

/** External Hubs of a namespace, each with the Secret that holds its token. */
export class ExternalHubs {
  constructor(
    private readonly cluster: ApiClient,
    private readonly namespace: string,
  ) {}

  async createNamespace(): Promise<void> {
    const body = { metadata: { name: this.namespace } };
    await this.cluster.request({ method: 'POST', path: '/api/v1/namespaces', body });
  }

  async add(name: string, url: string): Promise<void> {
    const tokenSecretRef = { name: `${name}-token` };
    const secret = { name: tokenSecretRef.name, labels: { [HUB_LABEL]: name } };
    await this.create(builtin.Secret, 'v1', secret, { stringData: { token: 'a token' } });
    await this.create(hubs, GROUP_VERSION, { name }, { spec: { external: { url, tokenSecretRef } } });
  }

  async askAgain(name: string): Promise<void> {
    const annotations = { 'hub-operator.dev/reconcile-requested-at': new Date().toISOString() };
    await this.cluster.request({
      method: 'PATCH',
      path: pathOf(hubs, this.namespace, name),
      contentType: 'application/merge-patch+json',
      body: { metadata: { annotations } },
    });
  }

  /** Requests the deletion only: the operator removes its finalizer later. */
  async remove(name: string): Promise<void> {
    await this.cluster.request({ method: 'DELETE', path: pathOf(hubs, this.namespace, name) });
    const path = pathOf(builtin.Secret, this.namespace, `${name}-token`);
    await this.cluster.request({ method: 'DELETE', path });
  }

  async exists(name: string): Promise<boolean> {
    try {
      await this.cluster.request({ method: 'GET', path: pathOf(hubs, this.namespace, name) });
      return true;
    } catch (error) {
      if (isNotFound(error)) return false;
      throw error;
    }
  }

  private async create(
    type: ResourceType,
    apiVersion: string,
    metadata: object,
    content: object,
  ): Promise<void> {
    const body = {
      apiVersion,
      kind: type.kind,
      metadata: { ...metadata, namespace: this.namespace },
      ...content,
    };
    await this.cluster.request({ method: 'POST', path: pathOf(type, this.namespace), body });
  }
}
