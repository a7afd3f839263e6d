import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { type ClusterObject, keyOf, type OwnerReference, pathOf, type ResourceType } from './objects';
import type { CustomResource } from './resource';
import { type Cluster, isNotFound } from './transport';

/** Owner of the fields of what we make, in server-side apply. */
export const FIELD_MANAGER = 'hub-operator';

/** An object that exists under the name that we need and is not ours; it is never forced. */
export class NameConflict extends Error {
  override readonly name = 'NameConflict';
  constructor(
    message: string,
    /** The object is on its way out: it is enough to wait. */
    readonly passing: boolean,
  ) {
    super(message);
  }
}

export interface ApplyOptions {
  /** The resource that the object belongs to. */
  readonly owner: CustomResource;
  /** False: the object outlives its owner (`retain`); it is then ours by its labels. */
  readonly ownerReference?: boolean;
}

/** An object as it is wanted, in full. */
export type Manifest = ClusterObject & Readonly<Record<string, unknown>>;

/** Makes objects in the cluster be as they are wanted. */
export class Applier {
  /**
   * Resource version of each object after our last apply. The server writes some values in its own way (`1000m` as
   * `1`), which then never look equal: this says that they are.
   */
  private readonly applied = new Map<string, string>();
  private readonly ownerLabel: string;
  private readonly digestAnnotation: string;

  constructor(
    private readonly cluster: Cluster,
    /** API group of our kinds, which prefixes our labels and annotations. */
    group: string,
  ) {
    this.ownerLabel = `${group}/owner`;
    this.digestAnnotation = `${group}/applied`;
  }

  /**
   * "Equal is not written": the object is read, and applied (server-side, forced for our fields) only if it lacks
   * something that is wanted or still has something that was wanted before. Answers with the object as it is then.
   * Throws {@link NameConflict} for an object of somebody else.
   */
  async apply<T extends ClusterObject>(type: ResourceType, wanted: Manifest, options: ApplyOptions): Promise<T> {
    const body = this.marked(wanted, options);
    const path = pathOf(type, body.metadata.namespace, body.metadata.name);
    const present = await this.find<T>(type, body.metadata.namespace!, body.metadata.name);
    if (present) {
      this.assertOurs(type, present, options.owner);
      const sameWish = this.digestOf(present) === this.digestOf(body);
      const untouched = this.applied.get(path) === present.metadata.resourceVersion;
      if (sameWish && (untouched || contains(present, body))) return present;
    }
    const result = await this.cluster.request<T>({
      method: 'PATCH',
      path,
      query: { fieldManager: FIELD_MANAGER, force: true, fieldValidation: 'Strict' },
      contentType: 'application/apply-patch+yaml',
      body: present ? { ...body, metadata: { ...body.metadata, uid: present.metadata.uid } } : body,
    });
    this.applied.set(path, result.metadata.resourceVersion!);
    return result;
  }

  /** The object as it is now. */
  async find<T extends ClusterObject>(type: ResourceType, namespace: string, name: string): Promise<T | undefined> {
    try {
      return await this.cluster.request<T>({ method: 'GET', path: pathOf(type, namespace, name) });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  private marked(wanted: Manifest, { owner, ownerReference = true }: ApplyOptions): ClusterObject {
    const metadata = {
      ...wanted.metadata,
      labels: { ...wanted.metadata.labels, ...this.labels(owner) },
      ...(ownerReference && { ownerReferences: [ownerReferenceTo(owner)] }),
    };
    const digest = createHash('sha256').update(JSON.stringify({ ...wanted, metadata })).digest('hex');
    const annotations = { ...metadata.annotations, [this.digestAnnotation]: digest.slice(0, 16) };
    return { ...wanted, metadata: { ...metadata, annotations } };
  }

  /** Tells that something was wanted before and is not any more, which {@link contains} cannot see. */
  private digestOf(object: ClusterObject): string | undefined {
    return object.metadata.annotations?.[this.digestAnnotation];
  }

  /** What every object of an owner is found by. */
  labels(owner: CustomResource): Record<string, string> {
    return { 'app.kubernetes.io/managed-by': FIELD_MANAGER, [this.ownerLabel]: `${owner.kind}.${owner.metadata.name}` };
  }

  private assertOurs(type: ResourceType, present: ClusterObject, owner: CustomResource): void {
    const controller = present.metadata.ownerReferences?.find((reference) => reference.controller);
    const label = present.metadata.labels?.[this.ownerLabel];
    const ours = controller ? controller.uid === owner.metadata.uid : label === this.labels(owner)[this.ownerLabel];
    const formerOwner = controller?.kind === owner.kind && controller.name === owner.metadata.name;
    if (present.metadata.deletionTimestamp || (!ours && formerOwner)) {
      throw new NameConflict(`${type.kind} ${keyOf(present)} of the time before is still being deleted.`, true);
    }
    if (ours) return;
    throw new NameConflict(
      `${type.kind} ${keyOf(present)} exists and does not belong to ${owner.kind} ${owner.metadata.name}` +
        (controller ? ` but to ${controller.kind} ${controller.name}` : '') +
        '. Delete or rename it, or give this resource another name.',
      false,
    );
  }
}

export function ownerReferenceTo(owner: CustomResource): OwnerReference {
  const { apiVersion, kind, metadata } = owner;
  // No blockOwnerDeletion: it would ask for the right to update finalizers of the owner.
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid!, controller: true };
}

/** Whether `present` has all that `wanted` says. Lists must agree item by item; defaults that the server added do not matter. */
export function contains(present: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) {
    return (
      Array.isArray(present) &&
      present.length === wanted.length &&
      wanted.every((item, index) => contains(present[index], item))
    );
  }
  if (typeof wanted === 'object' && wanted !== null) {
    return (
      typeof present === 'object' &&
      present !== null &&
      Object.entries(wanted).every(([key, value]) => value === undefined || contains((present as Record<string, unknown>)[key], value))
    );
  }
  return isDeepStrictEqual(present, wanted);
}
