import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../../operator/base/is-object';
import { kindsByName } from '../../operator/kinds';
import type { CustomResource } from '../../operator/kinds/resource';
import type { ApiRequest } from '../../operator/runtime/api-client';
import { ApiError } from '../../operator/runtime/api-errors';
import { pathOf } from '../../operator/runtime/objects';
import { fieldOf, type Path } from '../../operator/offline/field-path';
import { type Cluster, resourceType } from '../cluster';

/** A field of a resource that applying would change; undefined: it is absent. */
interface FieldChange {
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
  const { name, labels, annotations } = given.metadata;
  const before = await cluster.api.find<CustomResource>(type, cluster.namespace, name);
  const { apiVersion, kind, spec } = given;
  const metadata = {
    name,
    namespace: cluster.namespace,
    ...(labels && { labels }),
    annotations: annotations ?? {}, // as kubectl, which writes one of its own
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
 * The request of `kubectl apply`: a field that the file does not name stays, unless the file named it at the last apply. The last apply
 * is in the annotation of kubectl, or the API server knows it by the field manager.
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

/** kubectl keeps the former manifest there. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // a person has edited it
  }
};

/** A merge patch that also removes what only the former manifest names. */
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

/** The manager that has applied the spec on the server, such as Flux; else kubectl. The operator applies its finalizer and the status. */
function applierOf({ metadata }: CustomResource): string {
  const managers = (metadata as { readonly managedFields?: readonly ManagedFields[] }).managedFields ?? [];
  const appliers = managers
    .filter(({ operation, fieldsV1 }) => operation === 'Apply' && fieldsV1?.['f:spec'] !== undefined)
    .flatMap(({ manager }) => manager ?? []);
  return appliers.includes('kubectl') ? 'kubectl' : (appliers[0] ?? 'kubectl');
}

/** The innermost fields that differ; of lists of different lengths, the whole list. */
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
