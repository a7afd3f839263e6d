import { createHash } from 'node:crypto';
import { type Clock, systemClock } from '../base/clock';
import { undefinedIf } from '../base/undefined-if';
import type { CustomResource } from '../kinds/resource';
import type { ApiClient, Query } from './api-client';
import { isConflict, isNotFound } from './api-errors';
import { NameConflict, rejectionOf } from './apply-errors';
import type { Cache } from './cache';
import { hasFieldsOf } from './has-fields-of';
import { type ObjectKey, objectKey, objectKeyOf } from './object-key';
import { type ClusterObject, pathOf, type ResourceType } from './objects';
import { Replacement } from './replacement';
import { controllerOf, FIELD_MANAGER, ownerReferenceTo, ObjectOwnership, refersTo } from './object-ownership';

export interface ApplyOptions {
  /** The resource that the object belongs to. */
  readonly owner: CustomResource;
  /**
   * `always` is the default. With `never`, the object outlives its owner (`retain`) and is recognized by its
   * labels. With `at creation`, the owner reference is set only when the object is created, and a removed one
   * is not added again: the garbage collector would delete the object for a client that may not delete it
   * itself (security.md, "What a stolen token of the operator is worth").
   */
  readonly ownerReference?: 'always' | 'at creation' | 'never';
  /** A resource to which the object may have belonged before. The object is taken over from it. */
  readonly formerOwner?: CustomResource;
  /** A resource added as a further owner, so that the object stays in the cluster when `owner` is deleted. */
  readonly keptBy?: CustomResource | undefined;
  /**
   * Whether an object may be taken over if its owner is gone. The garbage collector may be about to delete
   * the object, but it checks the owners again first, and keeps an object with an owner that exists.
   */
  readonly takesAbandoned?: boolean;
}

/** The complete desired object. */
export type Manifest = ClusterObject & Readonly<Record<string, unknown>>;

/** The version of an object that was seen to have all fields of the desired object with this hash. */
interface Verified {
  readonly hash: string;
  readonly uid: string | undefined;
  readonly resourceVersion: string | undefined;
}

/** Applies and deletes the objects that the operator generates (rules.md, "Server-side apply", "Only differences are written"). */
export class Applier {
  private readonly verified = new Map<ObjectKey, Verified>();
  private readonly ownership: ObjectOwnership;
  private readonly lastAppliedAnnotation: string;
  private readonly replacement: Replacement;

  constructor(
    private readonly cluster: ApiClient,
    private readonly cache: Pick<Cache, 'get' | 'recordWrite' | 'watches'>,
    /** The operator's API group, which prefixes its labels and annotations. */
    group: string,
    /** Called after an immutable object was replaced. The message is a sentence. */
    private readonly onReplaced: (owner: CustomResource, message: string) => void = () => undefined,
    clock: Pick<Clock, 'now'> = systemClock,
  ) {
    this.replacement = new Replacement(cluster, clock, group);
    this.ownership = new ObjectOwnership(group);
    this.lastAppliedAnnotation = `${group}/last-applied-hash`;
  }

  /**
   * Applies the desired object with server-side apply and `force`. Nothing is written if the desired object
   * equals the one that was applied last, by this or a previous process, and the stored object still has all
   * of its fields. Fields that the operator does not set are left alone.
   *
   * @returns the resulting object; possibly only its metadata, if only metadata of the kind is watched
   * @throws NameConflict an object of that name belongs to another owner
   * @throws ObjectRejected the API server rejects the object
   */
  async apply<T extends ClusterObject>(
    type: ResourceType,
    desired: Manifest,
    options: ApplyOptions,
  ): Promise<T> {
    const { name, namespace = '' } = desired.metadata;
    const present = await this.read<T>(type, namespace, name);
    if (present) this.assertOurs(type, present, options);
    const body = this.withOwnership(desired, options, present);
    if (present && (await this.isApplied(type, present, body))) return present;
    const applied = await this.sendToLatest<T>(type, desired, present, options).catch((error: unknown) =>
      this.replaceImmutable<T>(type, desired, options, error),
    );
    // The API server may normalize a value, such as a quantity. Its response is therefore recorded as a form
    // of the desired object.
    this.recordVerified(type, body, applied);
    this.cache.recordWrite({ ...applied, kind: type.kind });
    return applied;
  }

  /** Sends the write of {@link apply} as a dry run, so that the API server validates it. */
  async dryRun(type: ResourceType, desired: Manifest, options: ApplyOptions): Promise<void> {
    const { namespace, name } = desired.metadata;
    const present = await this.find(type, namespace!, name);
    if (present) this.assertOurs(type, present, options);
    const body = this.withOwnership(desired, options, present);
    await this.send(pathOf(type, namespace, name), body, present, { dryRun: 'All' });
  }

  /**
   * Whether the desired object equals the one that was applied last to `present`, by this or a previous
   * process. Changes by other clients since then are not considered: {@link apply} compares the fields too
   * and corrects them.
   */
  matchesLastApplied(present: ClusterObject, desired: Manifest, options: ApplyOptions): boolean {
    const body = this.withOwnership(desired, options, present);
    return this.lastAppliedHashOf(present) === this.lastAppliedHashOf(body);
  }

  /**
   * Deletes an object that {@link apply} created for this owner. An object of another owner is not deleted.
   */
  async remove(type: ResourceType, owner: CustomResource, name: string): Promise<void> {
    const { namespace } = owner.metadata;
    const present = await this.find(type, namespace, name);
    if (!present || present.metadata.deletionTimestamp || !this.isOurs(present, owner)) return;
    const removal = this.cluster.request({
      method: 'DELETE',
      path: pathOf(type, namespace, name),
      body: { preconditions: { uid: present.metadata.uid } },
    });
    // If the object was deleted or recreated since, the next reconcile handles that.
    await undefinedIf((error) => isNotFound(error) || isConflict(error), removal);
  }

  /** Discards the record of a deleted object. */
  forget(object: ClusterObject): void {
    this.verified.delete(objectKeyOf(object));
  }

  /** Reads an object from the API server. @throws the error of an unfinished replacement */
  async find<T extends ClusterObject>(
    type: ResourceType,
    namespace: string,
    name: string,
  ): Promise<T | undefined> {
    await this.settle(type, namespace, name);
    return this.cluster.find<T>(type, namespace, name);
  }

  /**
   * Continues the replacements of immutable objects that a previous process did not finish. Must be called
   * before such objects are read.
   */
  finishReplacements(cache: Pick<Cache, 'list'>, onFailure: (error: unknown) => void): Promise<void> {
    return this.replacement.finish(cache, onFailure);
  }

  /**
   * Finishes an interrupted replacement: if only the copy of the object is left, the object is created from
   * it.
   */
  async settle(type: ResourceType, namespace: string, name: string): Promise<void> {
    const created = await this.replacement.settle(type, namespace, name);
    if (created) this.cache.recordWrite({ ...created, kind: type.kind });
  }

  labels(owner: CustomResource): Record<string, string> {
    return this.ownership.labels(owner);
  }

  isOurs(object: ClusterObject, owner: CustomResource): boolean {
    return this.ownership.isOwnedBy(object, owner);
  }

  /**
   * Reads the object to change from the cache, or else from the API server: it may be too new for the cache,
   * or of a kind that is not watched.
   */
  protected async read<T extends ClusterObject>(
    type: ResourceType,
    namespace: string,
    name: string,
  ): Promise<T | undefined> {
    return this.cache.get<T>(type.kind, namespace, name) ?? (await this.find<T>(type, namespace, name));
  }

  /**
   * Whether an apply would change nothing, because `body` was applied last and `present` still has all of its
   * fields.
   */
  private async isApplied(type: ResourceType, present: ClusterObject, body: ClusterObject): Promise<boolean> {
    const hash = this.lastAppliedHashOf(body);
    if (this.lastAppliedHashOf(present) !== hash) return false;
    const { name, namespace = '', uid, resourceVersion } = present.metadata;
    const verified = this.verified.get(objectKey(type.kind, namespace, name));
    if (verified?.hash === hash && verified?.uid === uid && verified?.resourceVersion === resourceVersion)
      return true;
    const whole = hasContent(present) ? present : await this.find(type, namespace, name);
    if (!whole || !hasFieldsOf(whole, body)) return false;
    this.recordVerified(type, body, whole);
    return true;
  }

  private recordVerified(type: ResourceType, body: ClusterObject, { metadata }: ClusterObject): void {
    const { name, namespace = '', uid, resourceVersion } = metadata;
    const hash = this.lastAppliedHashOf(body)!;
    this.verified.set(objectKey(type.kind, namespace, name), { hash, uid, resourceVersion });
  }

  /**
   * Sends the apply. If the cached object is outdated (deleted, recreated or changed since), the latest one
   * is read and the apply is sent again.
   */
  private async sendToLatest<T extends ClusterObject>(
    type: ResourceType,
    desired: Manifest,
    cached: T | undefined,
    options: ApplyOptions,
  ): Promise<T> {
    const { name, namespace = '' } = desired.metadata;
    const path = pathOf(type, namespace, name);
    const body = this.bodyOn(cached, desired, options);
    try {
      return await this.send<T>(path, body, cached);
    } catch (error) {
      // An apply with the uid of a deleted object is answered with a conflict.
      if (!cached || !isConflict(error)) throw error;
      const latest = await this.find<T>(type, namespace, name);
      const isSame = latest?.metadata.uid === cached.metadata.uid;
      if (isSame && body.metadata.resourceVersion === undefined) throw error;
      if (latest) this.assertOurs(type, latest, options);
      return this.send<T>(path, this.bodyOn(latest, desired, options), latest);
    }
  }

  /**
   * The body to send. An owner reference of the mode `at creation` is sent together with the resource version
   * that has it: otherwise a reference that was removed in the cluster since would be added again.
   */
  private bodyOn(
    present: ClusterObject | undefined,
    desired: Manifest,
    options: ApplyOptions,
  ): ClusterObject {
    const body = this.withOwnership(desired, options, present);
    const { resourceVersion } = present?.metadata ?? {};
    if (!resourceVersion || options.ownerReference !== 'at creation' || !refersTo(body, options.owner))
      return body;
    return { ...body, metadata: { ...body.metadata, resourceVersion } };
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
        // Force only for an existing object: an object that appears between the read and the write belongs to
        // another owner.
        query: {
          fieldManager: FIELD_MANAGER,
          force: present !== undefined,
          fieldValidation: 'Strict',
          ...query,
        },
        contentType: 'application/apply-patch+yaml',
        body: present ? this.bodyFor(present, body) : body,
      });
    } catch (error) {
      throw rejectionOf(error) ?? error;
    }
  }

  private bodyFor(present: ClusterObject, { metadata, ...content }: ClusterObject): ClusterObject {
    const annotations = { ...metadata.annotations, ...this.replacement.kept(present) };
    return { ...content, metadata: { ...metadata, annotations, uid: present.metadata.uid! } };
  }

  /**
   * Replaces an immutable object after a rejected write. @throws NameConflict, or `error` if immutability is
   * not its cause
   */
  protected async replaceImmutable<T extends ClusterObject>(
    type: ResourceType,
    desired: Manifest,
    options: ApplyOptions,
    error: unknown,
  ): Promise<T> {
    const { owner } = options;
    const bodyFor = (present: ClusterObject) => {
      this.assertOurs(type, present, options);
      return this.withOwnership(desired, options, present);
    };
    const { namespace = '', name } = desired.metadata;
    const replaced = await this.replacement.replace<T>(type, { namespace, name, bodyFor }, error);
    if (!replaced) throw error;
    this.onReplaced(
      owner,
      `${type.kind} ${namespace}/${name} was immutable, so that its content could not change: it was deleted and created again. Set immutable on no object of the operator.`,
    );
    return replaced;
  }

  private withOwnership(
    desired: Manifest,
    { owner, ownerReference = 'always', keptBy }: ApplyOptions,
    present: ClusterObject | undefined,
  ): ClusterObject {
    const isOwned =
      ownerReference === 'always' ||
      (ownerReference === 'at creation' && (present === undefined || refersTo(present, owner)));
    const references = [
      ...(isOwned ? [ownerReferenceTo(owner)] : []),
      ...(keptBy ? [{ ...ownerReferenceTo(keptBy), controller: false }] : []),
    ];
    const metadata = {
      ...desired.metadata,
      labels: { ...desired.metadata.labels, ...this.labels(owner) },
      ...(references.length > 0 && { ownerReferences: references }),
    };
    const digest = createHash('sha256')
      .update(JSON.stringify({ ...desired, metadata }))
      .digest('hex');
    const annotations = { ...metadata.annotations, [this.lastAppliedAnnotation]: digest.slice(0, 16) };
    return { ...desired, metadata: { ...metadata, annotations } };
  }

  private lastAppliedHashOf(object: ClusterObject): string | undefined {
    return object.metadata.annotations?.[this.lastAppliedAnnotation];
  }

  private assertOurs(
    type: ResourceType,
    present: ClusterObject,
    { owner, formerOwner, takesAbandoned = false }: ApplyOptions,
  ): void {
    const { deletionTimestamp, name, namespace } = present.metadata;
    const ours =
      this.isOurs(present, owner) ||
      (formerOwner !== undefined && this.isOurs(present, formerOwner)) ||
      (takesAbandoned && this.isAbandoned(present));
    const what = `${type.kind} ${namespace}/${name}`;
    if (deletionTimestamp || (!ours && this.isOrphaned(present))) {
      throw new NameConflict(`${what} is being deleted. It is created again when it is gone.`, true);
    }
    if (ours) return;
    const controller = controllerOf(present);
    throw new NameConflict(
      `${what} exists and does not belong to ${owner.kind} ${owner.metadata.name}` +
        (controller ? ` but to ${controller.kind} ${controller.name}` : '') +
        '. Delete or rename it, or give this resource another name.',
      false,
    );
  }

  /** Whether the custom resource to which the object belonged is gone. */
  private isAbandoned(present: ClusterObject): boolean {
    const { namespace = '' } = present.metadata;
    if (controllerOf(present)) return this.isOrphaned(present);
    const owner = this.ownership.ownerIn(present);
    return (
      owner !== undefined &&
      this.cache.watches(owner.kind) &&
      this.cache.get(owner.kind, namespace, owner.name) === undefined
    );
  }

  /**
   * Whether the controlling owner of the object is gone, so that the garbage collector will delete the
   * object.
   */
  private isOrphaned(present: ClusterObject): boolean {
    const controller = controllerOf(present);
    if (!controller || !this.cache.watches(controller.kind)) return false;
    const owner = this.cache.get(controller.kind, present.metadata.namespace ?? '', controller.name);
    return owner?.metadata.uid !== controller.uid;
  }
}

/** False if the cache has only the metadata of the object. */
function hasContent(object: ClusterObject): boolean {
  return Object.keys(object).some((field) => !['apiVersion', 'kind', 'metadata'].includes(field));
}
