import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../../operator/base/is-object';
import { kindsByName } from '../../operator/kinds';
import type { CustomResource } from '../../operator/kinds/resource';
import { ApiError } from '../../operator/runtime/api-errors';
import { pathOf } from '../../operator/runtime/objects';
import { fieldOf, type Path } from '../../operator/offline/field-path';
import { type Cluster, resourceType } from '../cluster';

/** A field of a resource that applying would change; undefined: it is absent. */
export interface FieldChange {
  /** `spec.triggers[0].to` */
  readonly field: string;
  readonly before: unknown;
  readonly after: unknown;
}

export interface ClusterChange {
  readonly action: 'create' | 'update' | 'none' | 'refused';
  readonly fields: readonly FieldChange[];
  /** Why the API server refuses it. */
  readonly refusal?: string;
  /** The resource in the cluster now. */
  readonly before?: CustomResource;
  /** As the API server would store it, with the status of the present one; absent: refused. */
  readonly after?: CustomResource;
}

/** Has the API server work out what applying a resource changes, without doing it. */
export async function clusterChange(cluster: Cluster, given: CustomResource): Promise<ClusterChange> {
  const type = resourceType(kindsByName.get(given.kind)!);
  const { name } = given.metadata;
  const before = await cluster.api.find<CustomResource>(type, cluster.namespace, name);
  const { labels, annotations } = before?.metadata ?? {};
  const body = {
    apiVersion: given.apiVersion,
    kind: given.kind,
    metadata: {
      ...before?.metadata,
      ...given.metadata,
      namespace: cluster.namespace,
      labels: { ...labels, ...given.metadata.labels },
      annotations: { ...annotations, ...given.metadata.annotations },
    },
    spec: given.spec,
  };
  try {
    const after = await cluster.api.request<CustomResource>({
      method: before ? 'PUT' : 'POST',
      path: pathOf(type, cluster.namespace, before ? name : undefined),
      query: { dryRun: 'All' },
      body,
    });
    const stored = { ...after, kind: given.kind, ...(before?.status && { status: before.status }) };
    if (!before) return { action: 'create', fields: [], after: stored };
    const fields = changedFields(before.spec, after.spec, ['spec']);
    return { action: fields.length > 0 ? 'update' : 'none', fields, before, after: stored };
  } catch (error) {
    if (!(error instanceof ApiError) || ![400, 403, 422].includes(error.status)) throw error;
    return { action: 'refused', fields: [], refusal: error.message, ...(before && { before }) };
  }
}

/** The innermost fields that differ; of lists of different lengths, the whole list. */
export function changedFields(before: unknown, after: unknown, path: Path): FieldChange[] {
  if (isDeepStrictEqual(before, after)) return [];
  if (isObject(before) && isObject(after)) {
    const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
    return keys.flatMap((key) => changedFields(before[key], after[key], [...path, key]));
  }
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length)
    return before.flatMap((item, index) => changedFields(item, after[index], [...path, index]));
  return [{ field: fieldOf(path), before, after }];
}
