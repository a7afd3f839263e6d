import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../base/clock';
import { isObject } from '../base/is-object';
import { type ClusterObject, pathOf, type ResourceType } from './objects';
import type { CustomResource, CommonStatus } from '../kinds/resource';
import type { ApiClient } from './api-client';
import { ApiError, isConflict, isNotFound, undeclaredFields } from './api-errors';

/** Field manager of `status` in server-side apply. */
const FIELD_MANAGER = 'hub-operator-status';

/** Number of attempts after conflicts. When all fail, the reconcile is retried. */
const ATTEMPTS = 5;

/** Milliseconds after which a field that the cluster did not know is sent again: its definition may have been updated. */
const UNDECLARED_LASTS = 3_600_000;

interface ManagedFields {
  readonly manager?: string;
  readonly fieldsV1?: {
    readonly 'f:status'?: { readonly 'f:conditions'?: Readonly<Record<string, unknown>> };
  };
}

/** Writes the status of the resources of one kind. */
export class StatusWriter<R extends CustomResource> {
  /**
   * Fields that the kind does not have in the cluster, whose definition is that of an older version. They are left out
   * without a refused request for each write.
   */
  private readonly undeclared = new Set<string>();
  /** Monotonic time at which the first of them was refused. */
  private undeclaredSince = -Infinity;

  constructor(
    private readonly cluster: ApiClient,
    private readonly type: ResourceType,
    /** Records the response to a write in the cache. @returns the newest known state of the resource */
    private readonly recordWrite: (resource: R) => R,
    /** Records the response to a read that was sent when the cache had `known`. @returns the newest state */
    private readonly recordRead: (resource: R, known: R) => R,
    private readonly clock: Pick<Clock, 'monotonic'>,
  ) {}

  /**
   * Writes the status that `desiredStatus` computes from the current one, if the two differ. @returns the
   * updated resource
   *
   * Server-side apply removes fields that are omitted and keeps those of other managers. The request contains
   * the resource version. After a conflict, `desiredStatus` is therefore called again with the newest status,
   * and a recreated resource with the same name is never written (the API server does not check the uid
   * here).
   *
   * @throws ApiError, ApiServerUnreachable
   */
  async write(resource: R, desiredStatus: (present: CommonStatus) => CommonStatus): Promise<R> {
    let present = resource;
    for (let attempt = 1; ; attempt++) {
      const before = withoutEmpty(present.status ?? {});
      const status = this.declared(desiredStatus(before));
      if (isDeepStrictEqual(before, status)) return present;
      try {
        return this.recordWrite(await this.apply(present, status));
      } catch (error) {
        if (isNotFound(error)) return present; // deleted in the meantime
        if (!isConflict(error) || attempt === ATTEMPTS) throw error;
      }
      const { namespace, name, uid } = resource.metadata;
      const newest = await this.cluster.find<R>(this.type, namespace, name);
      if (newest?.metadata.uid !== uid) return present;
      present = this.recordRead(newest, present);
    }
  }

  private async apply(resource: R, status: CommonStatus): Promise<R> {
    try {
      return await this.send(resource, status);
    } catch (error) {
      const paths = undeclaredIn(status, error);
      if (paths.length === 0) throw error;
      if (this.undeclared.size === 0) this.undeclaredSince = this.clock.monotonic();
      for (const path of paths) this.undeclared.add(path);
      return this.apply(resource, this.declared(status));
    }
  }

  private declared(status: CommonStatus): CommonStatus {
    if (this.clock.monotonic() - this.undeclaredSince >= UNDECLARED_LASTS) this.undeclared.clear();
    return withoutEmpty([...this.undeclared].reduce(withoutField, status));
  }

  private send({ apiVersion, kind, metadata }: R, status: CommonStatus): Promise<R> {
    const { name, namespace, resourceVersion } = metadata;
    return this.cluster.request<R>({
      method: 'PATCH',
      path: pathOf(this.type, namespace, name, 'status'),
      query: { fieldManager: FIELD_MANAGER, force: true },
      contentType: 'application/apply-patch+yaml',
      body: { apiVersion, kind, metadata: { name, namespace, resourceVersion }, status },
    });
  }
}

/**
 * The object without the conditions of other field managers. The operator does not apply conditions that it does not
 * read, so those managers can still change and remove their conditions.
 */
export function withoutForeignConditions<T extends ClusterObject>(object: T): T {
  const { metadata, status } = object as {
    metadata: { managedFields?: readonly ManagedFields[] };
    status?: CommonStatus;
  };
  if (!status?.conditions) return object;
  const owned = (ours: boolean): ReadonlySet<string> =>
    new Set(
      (metadata.managedFields ?? [])
        .filter(({ manager }) => (manager === FIELD_MANAGER) === ours)
        .flatMap(({ fieldsV1 }) => Object.keys(fieldsV1?.['f:status']?.['f:conditions'] ?? {})),
    );
  const [ours, theirs] = [owned(true), owned(false)];
  const conditions = status.conditions.filter(({ type }) => {
    const field = `k:${JSON.stringify({ type })}`;
    return ours.has(field) || !theirs.has(field);
  });
  return conditions.length === status.conditions.length
    ? object
    : { ...object, status: { ...status, conditions } };
}

/**
 * The fields of the status that the API server has just refused as unknown: the names from the status down to each, with
 * dots. A list stands for each of its items. Empty if it refused something else.
 */
function undeclaredIn(status: CommonStatus, error: unknown): readonly string[] {
  if (!(error instanceof ApiError)) return [];
  return undeclaredFields(error)
    .map((path) => /^\.status\.(.+)$/.exec(path.replaceAll(/\[[^\]]*\]/g, ''))?.[1] ?? '')
    .filter((path) => !isDeepStrictEqual(withoutField(status, path), status));
}

function withoutField<T>(value: T, path: string): T;
function withoutField(value: unknown, path: string): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => withoutField(item, path));
  if (!isObject(value)) return value;
  // A name may have dots itself, such as the settings in `previous`.
  const kept = Object.entries(value).filter(([name]) => name !== path);
  return Object.fromEntries(
    kept.map(([name, inner]) => [
      name,
      path.startsWith(`${name}.`) ? withoutField(inner, path.slice(name.length + 1)) : inner,
    ]),
  );
}

/**
 * Removes `undefined`, which JSON does not have, and `null`, which marks a field to remove. Empty objects are
 * removed too: when a server-side apply removes all entries of a map, the API server stores `null`, which it
 * then rejects as invalid.
 */
function withoutEmpty(status: CommonStatus): CommonStatus {
  const isEmpty = (value: unknown) => isObject(value) && Object.keys(value).length === 0;
  return Object.fromEntries(
    Object.entries(status).filter(([, value]) => value !== undefined && value !== null && !isEmpty(value)),
  );
}
