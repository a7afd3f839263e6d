import { isDeepStrictEqual } from 'node:util';
import { type ClusterObject, pathOf, type ResourceType } from './objects';
import type { CustomResource, CommonStatus } from '../kinds/resource';
import { type ApiClient, isConflict, isNotFound } from './api-client';

/** Owner of the fields of `status` in server-side apply. */
const FIELD_MANAGER = 'hub-operator-status';

/** Somebody who writes the resource faster than that keeps us from telling its status; the pass is tried again. */
const ATTEMPTS = 5;

interface ManagedFields {
  readonly manager?: string;
  readonly fieldsV1?: {
    readonly 'f:status'?: { readonly 'f:conditions'?: Readonly<Record<string, unknown>> };
  };
}

/** Writes `status` of the resources of one kind. */
export class StatusWriter<R extends CustomResource> {
  constructor(
    private readonly cluster: ApiClient,
    private readonly type: ResourceType,
    /** Takes an answer of the server; answers with the resource as the operator keeps it. */
    private readonly recordWrite: (resource: R) => R,
  ) {}

  /**
   * Writes what `change` makes of the status when that differs, and answers with the resource as it is then; without a
   * difference, with the resource as it was. By server-side apply, so that a field that we leave out goes and one of
   * somebody else stays; at a known resource version, so that the change is made anew on what somebody wrote meanwhile,
   * and never to another resource that took the name (the server does not look at the uid here).
   */
  async write(resource: R, change: (status: CommonStatus) => CommonStatus): Promise<R> {
    let present = resource;
    for (let attempt = 1; ; attempt++) {
      const before = withoutEmpty(present.status ?? {});
      const status = withoutEmpty(change(before));
      if (isDeepStrictEqual(before, status)) return present;
      try {
        return this.recordWrite(await this.apply(present, status));
      } catch (error) {
        if (isNotFound(error)) return present; // deleted meanwhile: nobody is left to tell
        if (!isConflict(error) || attempt === ATTEMPTS) throw error;
      }
      const { namespace, name, uid } = resource.metadata;
      const newest = await this.cluster.find<R>(this.type, namespace, name);
      if (newest?.metadata.uid !== uid) return present;
      present = this.recordWrite(newest!);
    }
  }

  private apply({ apiVersion, kind, metadata }: R, status: CommonStatus): Promise<R> {
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
 * The object without the conditions that others put there. What we do not see we do not apply, so that they stay
 * theirs: to change, and to take away.
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

/** JSON knows no `undefined`, and `null` stands for "take this field away". */
function withoutEmpty(status: CommonStatus): CommonStatus {
  return Object.fromEntries(
    Object.entries(status).filter(([, value]) => value !== undefined && value !== null),
  );
}
