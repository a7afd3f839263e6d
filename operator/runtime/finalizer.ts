import { pathOf, type ResourceType } from './objects';
import type { CustomResource } from '../kinds/resource';
import type { ApiClient } from './api-client';
import { ApiError, isConflict, isNotFound } from './api-errors';

/**
 * The operator's finalizer on a resource, managed with server-side apply. Finalizers are a set, so an apply
 * adds and removes only the operator's own. The applied body contains the uid: without it, an apply would
 * create a deleted resource again.
 */
export class Finalizer {
  constructor(
    private readonly cluster: ApiClient,
    private readonly type: ResourceType,
    /** Name of the finalizer, `<group>/<kind>`. */
    readonly name: string,
  ) {}

  isOn(resource: CustomResource): boolean {
    return resource.metadata.finalizers?.includes(this.name) ?? false;
  }

  /**
   * Adds the finalizer. @returns the resource; undefined if it is deleted or being deleted, which the watch
   * will report
   */
  async add<R extends CustomResource>(resource: R): Promise<R | undefined> {
    try {
      return await this.apply<R>(resource, [this.name]);
    } catch (error) {
      // The API server answers in this way for a resource that is deleted (404, 409) or being deleted (422).
      const isAboutDeletion = error instanceof ApiError && [404, 409, 422].includes(error.status);
      if (!isAboutDeletion) throw error;
      const latest = await this.latest(resource);
      if (latest && !latest.metadata.deletionTimestamp) throw error;
      return undefined;
    }
  }

  /** Removes the finalizer. @returns the resource if other finalizers remain; undefined if it is deleted */
  async release<R extends CustomResource>(resource: R): Promise<R | undefined> {
    try {
      const left = await this.apply(resource, []);
      // Another field manager also owns the entry, for example after `kubectl edit`: remove it by value.
      const index = left.metadata.finalizers?.indexOf(this.name) ?? -1;
      return index < 0 ? left : await this.removeAt(resource, index);
    } catch (error) {
      // An apply with the uid of a deleted object is answered with a conflict.
      if (isNotFound(error) || (isConflict(error) && !(await this.latest(resource)))) return undefined;
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

  /** The resource as stored in the API server; undefined if it is deleted or was recreated. */
  private async latest({ metadata }: CustomResource): Promise<CustomResource | undefined> {
    const found = await this.cluster.find<CustomResource>(this.type, metadata.namespace, metadata.name);
    return found?.metadata.uid === metadata.uid ? found : undefined;
  }
}
