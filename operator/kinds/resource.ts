import type { Condition } from './condition';

/** A custom resource of the operator's API group, in the form in which the API server returns it. */
export interface Resource<Spec = unknown, Status = unknown> {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ResourceMetadata;
  readonly spec: Spec;
  readonly status?: Status;
  /**
   * Not a field of the API: the parts that the operator's cache left out because the object is too large,
   * such as `spec.actions`.
   */
  readonly omitted?: readonly string[];
}

/** A resource of any kind: the fields that all kinds share. */
export type CustomResource = Resource<CommonSpec, CommonStatus>;

interface CommonSpec {
  readonly suspend?: boolean;
}

export interface CommonStatus {
  readonly observedGeneration?: number;
  readonly conditions?: readonly Condition[];
  readonly lastHandledReconcileAt?: string;
  readonly [field: string]: unknown;
}

/** The fields of `metadata` that a controller reads, for an object that the API server has stored. */
export interface ResourceMetadata {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** Increases with changes of the spec, not with those of the status or of an annotation. */
  readonly generation: number;
  /** Time of the creation, in RFC 3339. */
  readonly creationTimestamp: string;
  /** RFC 3339. Present while a deleted object waits for its finalizers. */
  readonly deletionTimestamp?: string;
  readonly finalizers?: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly OwnerReference[];
}

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}
