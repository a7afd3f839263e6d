import { OperationalError } from '../errors';
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { OwnerReference } from '../kinds/resource';
import { type ClusterObject, pathOf, type ResourceType } from './objects';
import type { CustomResource } from '../kinds/resource';
import {
  type ApiClient,
  ApiError,
  isConflict,
  isNamespaceTerminating,
  isNotFound,
  type Query,
} from './api-client';

/** Owner of the fields of what we make, in server-side apply. */
export const FIELD_MANAGER = 'hub-operator';

/** An object that exists under the name that we need and is not ours; it is never forced. */
export class NameConflict extends OperationalError {
  override readonly name = 'NameConflict';
  constructor(
    message: string,
    /** The object is on its way out: it is enough to wait. */
    readonly transient: boolean,
  ) {
    super(message);
  }
}

/** The API server does not take the desired object, in its own words; another try will not help. */
export class ObjectRejected extends OperationalError {
  override readonly name = 'ObjectRejected';

  /** @param forbidden by a quota, a policy or a missing permission, which may change while the object does not */
  constructor(
    message: string,
    options?: ErrorOptions,
    readonly forbidden = false,
  ) {
    super(message, options);
  }
}

export interface ApplyOptions {
  /** The resource that the object belongs to. */
  readonly owner: CustomResource;
  /** False: the object outlives its owner (`retain`); it is then ours by its labels. */
  readonly ownerReference?: boolean;
}

/** The desired object, in full. */
export type Manifest = ClusterObject & Readonly<Record<string, unknown>>;

/** Makes objects in the cluster equal to the desired ones. */
export class Applier {
  /**
   * The desired fields of each object as the server returned them after our last apply. It normalises values (`1000m`
   * becomes `1`) and others add to lists, so its result counts as equal to the desired object.
   */
  private readonly lastObserved = new Map<string, unknown>();
  private readonly ownerLabel: string;
  private readonly lastAppliedAnnotation: string;

  constructor(
    private readonly cluster: ApiClient,
    /** API group of our kinds, which prefixes our labels and annotations. */
    group: string,
  ) {
    this.ownerLabel = `${group}/owner`;
    this.lastAppliedAnnotation = `${group}/last-applied-hash`;
  }

  /**
   * "Equal is not written": the object is read, and applied (server-side, forced for our fields) only if it lacks
   * something that is desired or still has something that was desired before. Answers with the object as it is then.
   * Throws {@link NameConflict} for an object of somebody else, {@link ObjectRejected} when the API server does not take it.
   */
  async apply<T extends ClusterObject>(
    type: ResourceType,
    desired: Manifest,
    options: ApplyOptions,
  ): Promise<T> {
    const body = this.withOwnership(desired, options);
    const path = pathOf(type, body.metadata.namespace, body.metadata.name);
    const present = await this.find<T>(type, body.metadata.namespace!, body.metadata.name);
    if (present) {
      this.assertOurs(type, present, options.owner);
      const sameHash = this.lastAppliedHashOf(present) === this.lastAppliedHashOf(body);
      if (
        sameHash &&
        (contains(present, body) || isDeepStrictEqual(shownOf(present, body), this.lastObserved.get(path)))
      )
        return present;
    }
    const result = await this.send<T>(path, body, present);
    if (contains(result, body)) this.lastObserved.delete(path);
    else this.lastObserved.set(path, shownOf(result, body));
    return result;
  }

  /** Lets the API server check what {@link apply} would write, and writes nothing. */
  async dryRun(type: ResourceType, desired: Manifest, options: ApplyOptions): Promise<void> {
    const body = this.withOwnership(desired, options);
    const { namespace, name } = body.metadata;
    const present = await this.find(type, namespace!, name);
    if (present) this.assertOurs(type, present, options.owner);
    await this.send(pathOf(type, namespace, name), body, present, { dryRun: 'All' });
  }

  /** Whether `present` was last applied as this desired object. */
  matchesLastApplied(present: ClusterObject, desired: Manifest, options: ApplyOptions): boolean {
    return this.lastAppliedHashOf(present) === this.lastAppliedHashOf(this.withOwnership(desired, options));
  }

  /** Deletes what {@link apply} made for this owner. An object of somebody else stays. */
  async remove(type: ResourceType, owner: CustomResource, name: string): Promise<void> {
    const { namespace } = owner.metadata;
    const present = await this.find(type, namespace, name);
    if (!present || present.metadata.deletionTimestamp || !this.isOurs(present, owner)) return;
    try {
      await this.cluster.request({
        method: 'DELETE',
        path: pathOf(type, namespace, name),
        body: { preconditions: { uid: present.metadata.uid } },
      });
    } catch (error) {
      // It is gone, or another object has its name, which the next reconcile handles.
      if (!isNotFound(error) && !isConflict(error)) throw error;
    }
  }

  /** @throws ObjectRejected */
  protected async send<T extends ClusterObject>(
    path: string,
    body: ClusterObject,
    present: ClusterObject | undefined,
    query: Query = {},
  ): Promise<T> {
    try {
      return await this.cluster.request<T>({
        method: 'PATCH',
        path,
        // Not forced onto one that appears between our look and our write: it is somebody else's.
        query: {
          fieldManager: FIELD_MANAGER,
          force: present !== undefined,
          fieldValidation: 'Strict',
          ...query,
        },
        contentType: 'application/apply-patch+yaml',
        body: present ? { ...body, metadata: { ...body.metadata, uid: present.metadata.uid } } : body,
      });
    } catch (error) {
      if (!isRefusal(error)) throw error;
      throw new ObjectRejected(error.message, { cause: error }, error.status === 403);
    }
  }

  /** The object as it is now. */
  find<T extends ClusterObject>(type: ResourceType, namespace: string, name: string): Promise<T | undefined> {
    return this.cluster.find<T>(type, namespace, name);
  }

  private withOwnership(desired: Manifest, { owner, ownerReference = true }: ApplyOptions): ClusterObject {
    const metadata = {
      ...desired.metadata,
      labels: { ...desired.metadata.labels, ...this.labels(owner) },
      ...(ownerReference && { ownerReferences: [ownerReferenceTo(owner)] }),
    };
    const digest = createHash('sha256')
      .update(JSON.stringify({ ...desired, metadata }))
      .digest('hex');
    const annotations = { ...metadata.annotations, [this.lastAppliedAnnotation]: digest.slice(0, 16) };
    return { ...desired, metadata: { ...metadata, annotations } };
  }

  /** Tells that something was desired before and is not any more, which {@link contains} cannot see. */
  private lastAppliedHashOf(object: ClusterObject): string | undefined {
    return object.metadata.annotations?.[this.lastAppliedAnnotation];
  }

  /** What every object of an owner is found by. */
  labels(owner: CustomResource): Record<string, string> {
    return {
      'app.kubernetes.io/managed-by': FIELD_MANAGER,
      [this.ownerLabel]: `${owner.kind}.${owner.metadata.name}`,
    };
  }

  /** Whether the owner controls the object or, where nobody does, its labels name the owner. */
  isOurs({ metadata }: ClusterObject, owner: CustomResource): boolean {
    const controller = metadata.ownerReferences?.find((reference) => reference.controller);
    if (controller) return controller.uid === owner.metadata.uid;
    return metadata.labels?.[this.ownerLabel] === this.labels(owner)[this.ownerLabel];
  }

  private assertOurs(type: ResourceType, present: ClusterObject, owner: CustomResource): void {
    const controller = present.metadata.ownerReferences?.find((reference) => reference.controller);
    const ours = this.isOurs(present, owner);
    const formerOwner = controller?.kind === owner.kind && controller.name === owner.metadata.name;
    if (present.metadata.deletionTimestamp || (!ours && formerOwner)) {
      throw new NameConflict(
        `${type.kind} ${present.metadata.namespace}/${present.metadata.name} of the time before is still being deleted.`,
        true,
      );
    }
    if (ours) return;
    throw new NameConflict(
      `${type.kind} ${present.metadata.namespace}/${present.metadata.name} exists and does not belong to ${owner.kind} ${owner.metadata.name}` +
        (controller ? ` but to ${controller.kind} ${controller.name}` : '') +
        '. Delete or rename it, or give this resource another name.',
      false,
    );
  }
}

/** A field that the schema does not know ends in a 500, as if the server were at fault. */
const isRefusal = (error: unknown): error is ApiError =>
  error instanceof ApiError &&
  (error.status === 400 ||
    error.status === 422 ||
    (error.status === 403 && !isNamespaceTerminating(error)) ||
    error.message.startsWith('failed to create typed patch object'));

export function ownerReferenceTo(owner: CustomResource): OwnerReference {
  const { apiVersion, kind, metadata } = owner;
  // No blockOwnerDeletion: it would ask for the right to update finalizers of the owner.
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid, controller: true };
}

/** The part of `present` at the places that `desired` speaks of; a list of another length is shown whole. */
function shownOf(present: unknown, desired: unknown): unknown {
  if (Array.isArray(desired) && Array.isArray(present) && present.length === desired.length) {
    return present.map((item, index) => shownOf(item, desired[index]));
  }
  if (isRecord(desired) && isRecord(present)) {
    return Object.fromEntries(Object.keys(desired).map((key) => [key, shownOf(present[key], desired[key])]));
  }
  return present;
}

/** Whether `present` has all that `desired` says. Lists must agree item by item; what the server added does not matter. */
export function contains(present: unknown, desired: unknown): boolean {
  if (Array.isArray(desired)) {
    return (
      Array.isArray(present) &&
      present.length === desired.length &&
      desired.every((item, index) => contains(present[index], item))
    );
  }
  if (isRecord(desired)) {
    return (
      isRecord(present) &&
      Object.entries(desired).every(([key, value]) => value === undefined || contains(present[key], value))
    );
  }
  return present === desired;
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
