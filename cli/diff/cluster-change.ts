import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../../operator/base/is-object';
import { kindsByName } from '../../operator/kinds';
import type { CustomResource } from '../../operator/kinds/resource';
import type { ApiRequest } from '../../operator/runtime/api-client';
import { ApiError } from '../../operator/runtime/api-errors';
import { pathOf } from '../../operator/runtime/objects';
import { fieldOf, type Path } from '../../operator/offline/field-path';
import { type Cluster, resourceType } from '../cluster';

/** A field of a resource that applying would change; undefined stands for an absent value. */
interface FieldChange {
  /** Path of the field, such as `spec.triggers[0].to`. */
  readonly field: string;
  readonly before: unknown;
  readonly after: unknown;
}

export interface ClusterChange {
  readonly action: 'create' | 'update' | 'none' | 'refused';
  readonly fields: readonly FieldChange[];
  /** The reason if the API server refuses the resource. */
  readonly refusal?: string;
  /** The current resource in the cluster. */
  readonly before?: CustomResource;
  /**
   * The resource as the API server would store it, with the current status. Absent if the API server refuses
   * it.
   */
  readonly after?: CustomResource;
}

/** Determines the changes that applying a resource would make, with a dry run on the API server. */
export async function clusterChange(cluster: Cluster, given: CustomResource): Promise<ClusterChange> {
  const type = resourceType(kindsByName.get(given.kind)!);
  const { name, labels, annotations } = given.metadata;
  const before = await cluster.api.find<CustomResource>(type, cluster.namespace, name);
  const { apiVersion, kind, spec } = given;
  const metadata = {
    name,
    namespace: cluster.namespace,
    ...(labels && { labels }),
    annotations: annotations ?? {}, // kubectl also adds an annotation
  };
  try {
    const after = await cluster.api.request<CustomResource>({
      path: pathOf(type, cluster.namespace, before ? name : undefined),
      ...applyRequest(before, { apiVersion, kind, metadata, spec }),
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

type Fields = Readonly<Record<string, unknown>>;

/**
 * The request that `kubectl apply` would send. A field that the file does not contain is unchanged, unless
 * the previous apply contained it. The previous apply is in kubectl's annotation, or the API server knows it
 * by the field manager.
 */
function applyRequest(
  before: CustomResource | undefined,
  body: object,
): Pick<ApiRequest, 'method' | 'query' | 'contentType' | 'body'> {
  const dryRun = 'All';
  if (!before) return { method: 'POST', query: { dryRun }, body };
  const last = before.metadata.annotations?.[LAST_APPLIED];
  if (last !== undefined)
    return {
      method: 'PATCH',
      query: { dryRun },
      contentType: 'application/merge-patch+json',
      body: withRemovals(parsed(last), body as Fields),
    };
  return {
    method: 'PATCH',
    query: { dryRun, force: true, fieldManager: applierOf(before) },
    contentType: 'application/apply-patch+yaml',
    body,
  };
}

/** Annotation in which kubectl stores the last applied manifest. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // a user has edited the annotation
  }
};

/** A merge patch that also removes fields which only the previous manifest contains. */
function withRemovals(former: unknown, given: Fields): Fields {
  if (!isObject(former)) return given;
  const removed = Object.keys(former)
    .filter((key) => !(key in given))
    .map((key) => [key, null] as const);
  const kept = Object.entries(given).map(
    ([key, value]) => [key, isObject(value) ? withRemovals(former[key], value) : value] as const,
  );
  return Object.fromEntries([...kept, ...removed.filter(([key]) => key !== 'status')]);
}

interface ManagedFields {
  readonly manager?: string;
  readonly operation?: string;
  readonly fieldsV1?: Readonly<Record<string, unknown>>;
}

/**
 * The field manager that has applied the spec on the server side, such as Flux; otherwise kubectl. The
 * operator itself applies only its finalizer and the status.
 */
function applierOf({ metadata }: CustomResource): string {
  const managers = (metadata as { readonly managedFields?: readonly ManagedFields[] }).managedFields ?? [];
  const appliers = managers
    .filter(({ operation, fieldsV1 }) => operation === 'Apply' && fieldsV1?.['f:spec'] !== undefined)
    .flatMap(({ manager }) => manager ?? []);
  return appliers.includes('kubectl') ? 'kubectl' : (appliers[0] ?? 'kubectl');
}

/** The innermost fields that differ. Lists of different lengths count as one field. */
function changedFields(before: unknown, after: unknown, path: Path): FieldChange[] {
  if (isDeepStrictEqual(before, after)) return [];
  if (isObject(before) && isObject(after)) {
    const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
    return keys.flatMap((key) => changedFields(before[key], after[key], [...path, key]));
  }
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length)
    return before.flatMap((item, index) => changedFields(item, after[index], [...path, index]));
  return [{ field: fieldOf(path), before, after }];
}
