import type { Clock } from '../base/clock';
import { IMMUTABLE_REPLACEMENT_PAUSE } from '../base/limits';
import { undefinedIf } from '../base/undefined-if';
import type { ApiClient } from './api-client';
import { isConflict, isNotFound } from './api-errors';
import { NameConflict, ObjectRejected, rejectionOf } from './apply-errors';
import type { Cache } from './cache';
import { type ObjectKey, objectKey } from './object-key';
import { FIELD_MANAGER, MANAGED_BY_LABEL } from './object-ownership';
import { type ClusterObject, pathOf, type ResourceType } from './objects';
import { builtin } from './types';

/** The types with the field `immutable`. */
const TYPES: readonly ResourceType[] = [builtin.ConfigMap, builtin.Secret];

/**
 * Suffix of the name of the copy, which holds the content while the object itself is deleted and created
 * again.
 */
const COPY = '-next';

interface Content extends ClusterObject {
  readonly immutable?: boolean;
}

interface Replaced {
  readonly namespace: string;
  readonly name: string;
  /**
   * Computes the object that replaces the present one, including its owners. @throws NameConflict the present
   * object belongs to another owner
   */
  readonly bodyFor: (present: ClusterObject) => ClusterObject;
}

/**
 * Replaces ConfigMaps and Secrets of the operator that another client has made immutable (rules.md,
 * "Server-side apply"): deletes and creates them. In the time between, a copy holds the content, which
 * therefore survives a crash.
 */
export class Replacement {
  private readonly replacedAt: string;
  private readonly replaces: string;
  /**
   * The copies of objects whose replacement is unfinished, by key of the object: a quota, a policy or a
   * finalizer may prevent its creation.
   */
  private readonly unfinished = new Map<ObjectKey, ClusterObject>();

  constructor(
    private readonly cluster: ApiClient,
    private readonly clock: Pick<Clock, 'now'>,
    /** The operator's API group, which prefixes its annotations. */
    group: string,
  ) {
    this.replacedAt = `${group}/replaced-at`;
    this.replaces = `${group}/replaces`;
  }

  /** The annotation with the time of the last replacement, which each write must keep unchanged. */
  kept({ metadata: { annotations } }: ClusterObject): Readonly<Record<string, string>> {
    const at = annotations?.[this.replacedAt];
    return at === undefined ? {} : { [this.replacedAt]: at };
  }

  /**
   * Replaces the object if immutability is the cause of the rejection. @returns undefined if it is not
   *
   * @throws NameConflict the object was replaced less than an hour ago
   */
  async replace<T extends ClusterObject>(
    type: ResourceType,
    { namespace, name, bodyFor }: Replaced,
    rejection: unknown,
  ): Promise<T | undefined> {
    if (!(rejection instanceof ObjectRejected) || rejection.forbidden || !TYPES.includes(type))
      return undefined;
    const present = await this.cluster.find<Content>(type, namespace, name);
    if (!present?.immutable) return undefined;
    const body = bodyFor(present);
    const what = `${type.kind} ${namespace}/${name}`;
    const before = Date.parse(present.metadata.annotations?.[this.replacedAt] ?? '');
    if (this.clock.now() < before + IMMUTABLE_REPLACEMENT_PAUSE)
      throw new NameConflict(
        `${what} is immutable again, less than an hour after it was replaced: a policy may set that. Exempt the objects with the label ${MANAGED_BY_LABEL}: ${FIELD_MANAGER} from it, then delete this one.`,
        false,
      );
    const copy = await this.createCopy(type, body);
    try {
      await this.delete(type, present);
      if (await this.cluster.find(type, namespace, name)) throw beingDeleted(what);
      const created = await this.create<T>(type, body);
      await this.delete(type, copy);
      return created;
    } catch (error) {
      this.unfinished.set(objectKey(type.kind, namespace, name), copy);
      throw error;
    }
  }

  /**
   * Continues the replacements that a previous process did not finish. Must be called before the objects are
   * read.
   *
   * @param onFailure is called for each replacement that fails; {@link settle} tries it again
   */
  async finish(cache: Pick<Cache, 'list'>, onFailure: (error: unknown) => void): Promise<void> {
    for (const type of TYPES)
      for (const copy of [...cache.list<ClusterObject>(type.kind)]) {
        if (!this.isCopy(copy)) continue;
        const { annotations, namespace = '' } = copy.metadata;
        const name = annotations![this.replaces]!;
        this.unfinished.set(objectKey(type.kind, namespace, name), copy);
        await this.settle(type, namespace, name).catch(onFailure);
      }
  }

  /**
   * Finishes the replacement of an object if one is unfinished. Without this, a reader of the object would
   * take its content for lost.
   *
   * @returns the object if it had to be created
   * @throws the error that prevents its creation
   */
  async settle(type: ResourceType, namespace: string, name: string): Promise<ClusterObject | undefined> {
    const key = objectKey(type.kind, namespace, name);
    const copy = this.unfinished.get(key);
    if (!copy) return undefined;
    const created = await this.finishOne(type, copy);
    if (this.unfinished.get(key) === copy) this.unfinished.delete(key);
    return created;
  }

  private async finishOne(
    type: ResourceType,
    { metadata }: ClusterObject,
  ): Promise<ClusterObject | undefined> {
    const { namespace = '', name: copyName } = metadata;
    const copy = await this.cluster.find<Content>(type, namespace, copyName);
    if (!copy || !this.isCopy(copy)) return undefined;
    const { [this.replaces]: name = '', ...annotations } = copy.metadata.annotations!;
    const present = await this.cluster.find(type, namespace, name);
    if (present?.metadata.deletionTimestamp) throw beingDeleted(`${type.kind} ${namespace}/${name}`);
    let created: ClusterObject | undefined;
    if (!present) {
      const { labels = {}, ownerReferences } = copy.metadata;
      const owners = ownerReferences && { ownerReferences };
      const { immutable: _, ...content } = copy;
      created = await this.create(type, {
        ...content,
        apiVersion: 'v1',
        kind: type.kind,
        metadata: { namespace, name, labels, annotations, ...owners },
      });
    }
    await this.delete(type, copy);
    return created;
  }

  private isCopy({ metadata: { annotations, labels } }: ClusterObject): boolean {
    return annotations?.[this.replaces] !== undefined && labels?.[MANAGED_BY_LABEL] === FIELD_MANAGER;
  }

  /** Creates the copy. The API server thereby checks the content before anything is deleted. */
  private async createCopy(type: ResourceType, body: ClusterObject): Promise<ClusterObject> {
    const { metadata } = body;
    const name = metadata.name + COPY;
    const left = await this.cluster.find(type, metadata.namespace ?? '', name);
    if (left && !this.isCopy(left))
      throw new NameConflict(
        `${type.kind} ${metadata.namespace}/${name} is in the way of the replacement of ${metadata.name}, which is immutable: delete or rename it.`,
        false,
      );
    if (left) await this.delete(type, left);
    const annotations = { ...metadata.annotations, [this.replaces]: metadata.name };
    return this.send(type, { ...body, metadata: { ...metadata, name, annotations } });
  }

  private create<T extends ClusterObject>(type: ResourceType, body: ClusterObject): Promise<T> {
    const at = new Date(this.clock.now()).toISOString();
    const annotations = { ...body.metadata.annotations, [this.replacedAt]: at };
    return this.send(type, { ...body, metadata: { ...body.metadata, annotations } });
  }

  /** @throws ObjectRejected */
  private async send<T extends ClusterObject>(type: ResourceType, body: ClusterObject): Promise<T> {
    const { namespace, name } = body.metadata;
    try {
      return await this.cluster.request<T>({
        method: 'PATCH',
        path: pathOf(type, namespace, name),
        query: { fieldManager: FIELD_MANAGER, force: false, fieldValidation: 'Strict' },
        contentType: 'application/apply-patch+yaml',
        body,
      });
    } catch (error) {
      throw rejectionOf(error) ?? error;
    }
  }

  private async delete(
    type: ResourceType,
    { metadata: { namespace, name, uid } }: ClusterObject,
  ): Promise<void> {
    const removal = this.cluster.request({
      method: 'DELETE',
      path: pathOf(type, namespace, name),
      body: { preconditions: { uid } },
    });
    // If the object was deleted or recreated since, the next reconcile handles that.
    await undefinedIf((error) => isNotFound(error) || isConflict(error), removal);
  }
}

const beingDeleted = (what: string): NameConflict =>
  new NameConflict(`${what} is immutable and being deleted. It is created again when it is gone.`, true);
