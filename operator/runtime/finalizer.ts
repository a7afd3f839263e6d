import { pathOf, type ResourceType } from './objects';
import type { CustomResource } from '../kinds/resource';
import { type ApiClient, isConflict, isNotFound } from './api-client';

/**
 * The operator's finalizer on a resource, by server-side apply: finalizers are a set, so an apply adds and removes only
 * the operator's own. The applied body carries the uid: without it, an apply to a deleted object would create it again.
 */
export class Finalizer {
  constructor(
    private readonly cluster: ApiClient,
    private readonly type: ResourceType,
    /** `<group>/<kind>` */
    readonly name: string,
  ) {}

  isOn(resource: CustomResource): boolean {
    return resource.metadata.finalizers?.includes(this.name) ?? false;
  }

  add<R extends CustomResource>(resource: R): Promise<R> {
    return this.apply<R>(resource, [this.name]);
  }

  /** Removes the finalizer. Returns the resource if other finalizers remain; undefined: it is deleted. */
  async release<R extends CustomResource>(resource: R): Promise<R | undefined> {
    try {
      const left = await this.apply(resource, []);
      // Another field manager owns the entry too (`kubectl edit`): remove it by value.
      const index = left.metadata.finalizers?.indexOf(this.name) ?? -1;
      return index < 0 ? left : await this.removeAt(resource, index);
    } catch (error) {
      // The API server rejects an apply with the uid of a deleted object as a conflict.
      if (isNotFound(error) || (isConflict(error) && !(await this.exists(resource)))) return undefined;
      throw error;
    }
  }

  private apply<R extends CustomResource>(resource: R, finalizers: readonly string[]): Promise<R> {
    const { name, namespace, uid } = resource.metadata;
    return this.cluster.request<R>({
      method: 'PATCH',
      path: pathOf(this.type, namespace, name),
      query: { fieldManager: 'hub-operator-finalizer', force: true },
      contentType: 'application/apply-patch+yaml',
      body: {
        apiVersion: resource.apiVersion,
        kind: resource.kind,
        metadata: { name, namespace, uid, ...(finalizers.length > 0 && { finalizers }) },
      },
    });
  }

  private removeAt<R extends CustomResource>(resource: R, index: number): Promise<R> {
    return this.cluster.request<R>({
      method: 'PATCH',
      path: pathOf(this.type, resource.metadata.namespace, resource.metadata.name),
      contentType: 'application/json-patch+json',
      body: [
        { op: 'test', path: `/metadata/finalizers/${index}`, value: this.name },
        { op: 'remove', path: `/metadata/finalizers/${index}` },
      ],
    });
  }

  private async exists({ metadata }: CustomResource): Promise<boolean> {
    const present = await this.cluster.find<CustomResource>(this.type, metadata.namespace, metadata.name);
    return present?.metadata.uid === metadata.uid;
  }
}
