import type { Condition } from './condition';

/** A custom resource of ours as the API server gives it. */
export interface Resource<Spec = unknown, Status = unknown> {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ResourceMetadata;
  readonly spec: Spec;
  readonly status?: Status;
  /** Not in the API: the parts that the operator's cache left out, since the object is too large, such as `spec.actions`. */
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

/** The parts of `metadata` that a controller looks at, of an object that the API server has stored. */
export interface ResourceMetadata {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** Moves with the spec, never with the status or an annotation. */
  readonly generation: number;
  /** The time of the creation, in RFC 3339. */
  readonly creationTimestamp: string;
  /** RFC 3339; there while the object waits for its finalizers. */
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
