import { createHash } from 'node:crypto';
import type { CustomResource, OwnerReference } from '../kinds/resource';
import type { ClusterObject } from './objects';

/** Value of the label `app.kubernetes.io/managed-by`, and field manager, of all objects that the operator creates. */
export const FIELD_MANAGER = 'hub-operator';
export const MANAGED_BY_LABEL = 'app.kubernetes.io/managed-by';

/** Longest value of a label. */
const LONGEST_LABEL = 63;
const HASH_LENGTH = 10;

/**
 * The owner of an object that the operator creates (rules.md, "Server-side apply"). The owner is the resource
 * in the owner reference or, if no resource controls the object (`retain`), the one in the label.
 */
export class ObjectOwnership {
  private readonly label: string;

  constructor(group: string) {
    this.label = `${group}/owner`;
  }

  /** The labels that every object of an owner has, for selectors. */
  labels(owner: CustomResource): Record<string, string> {
    return {
      [MANAGED_BY_LABEL]: FIELD_MANAGER,
      [this.label]: labelValue(owner.kind, owner.metadata.name),
    };
  }

  /** The owner in the label, whose name may be truncated; undefined if there is no such label. */
  ownerIn({
    metadata: { labels },
  }: ClusterObject): { readonly kind: string; readonly name: string } | undefined {
    const label = labels?.[this.label];
    const dot = label?.indexOf('.') ?? -1;
    return label === undefined || dot < 0
      ? undefined
      : { kind: label.slice(0, dot), name: label.slice(dot + 1) };
  }

  isOwnedBy(object: ClusterObject, owner: CustomResource): boolean {
    const controller = controllerOf(object);
    if (controller) return controller.uid === owner.metadata.uid;
    return object.metadata.labels?.[this.label] === labelValue(owner.kind, owner.metadata.name);
  }
}

export const controllerOf = ({ metadata }: ClusterObject): OwnerReference | undefined =>
  metadata.ownerReferences?.find(({ controller }) => controller);

/**
 * Whether the object has an owner reference to this resource, so that the garbage collector deletes it with
 * the resource.
 */
export const refersTo = ({ metadata }: ClusterObject, owner: CustomResource): boolean =>
  metadata.ownerReferences?.some(({ uid }) => uid === owner.metadata.uid) ?? false;

export function ownerReferenceTo(owner: CustomResource): OwnerReference {
  const { apiVersion, kind, metadata } = owner;
  // Without blockOwnerDeletion, which requires permission to update finalizers of the owner.
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid, controller: true };
}

/** `<kind>.<name>`. If that is too long for a label, a hash replaces its end. */
function labelValue(kind: string, name: string): string {
  const value = `${kind}.${name}`;
  if (value.length <= LONGEST_LABEL) return value;
  const hash = createHash('sha256').update(value).digest('hex').slice(0, HASH_LENGTH);
  return `${value.slice(0, LONGEST_LABEL - 1 - HASH_LENGTH)}-${hash}`;
}
