import type { Resource } from './resource';
import type { CelRule, Infer, Schema } from './schema';

export type { CelRule };

/** Definition of a kind as data: the CRD, the role, the watches, the metrics' labels and the docs follow from it. */
export interface KindDefinition<
  Spec extends Schema = Schema,
  Status extends Schema = Schema,
  Name extends string = string,
> {
  /** `HubAutomation` */
  readonly kind: Name;
  /** Lists and pages show kinds of a lower rank first, those of one rank by their names. */
  readonly rank: number;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  /** First sentences of `kubectl explain`. */
  readonly description: string;
  readonly spec: Spec;
  readonly status: Status;
  /** CEL rules over the whole object, for what neither `spec` nor `status` can see (`metadata.name`). */
  readonly rules?: readonly CelRule[];
  /** Columns of `kubectl get` between NAME and AGE. */
  readonly columns: readonly Column[];
  /** The name of the Hub that a resource belongs to: its own for a Hub, `spec.hubRef.name` for a child. */
  hubName(resource: Resource<Infer<Spec>, Infer<Status>>): string;
  /** Objects of the same namespace on which a resource depends: when one changes, the resource is reconciled. */
  references(resource: Resource<Infer<Spec>, Infer<Status>>): readonly Reference[];
  /**
   * Names of Secrets that no other resource may name. When the resource appears, goes or reserves others, the resources that
   * refer to one are reconciled.
   */
  reservedSecrets?(resource: Resource<Infer<Spec>, Infer<Status>>): readonly string[];
  /**
   * Identity of a resource's object in its hub, unique among resources of its kind and hub: an id, a normalised name.
   * Of two resources with one identity, the older owns the object (rules.md, "Ownership of objects in the hub").
   * Undefined: none yet.
   */
  identity?(resource: Resource<Infer<Spec>, Infer<Status>>): string | undefined;
  /** The object of a resource for people, where its kind and name do not say it: `settings of light.kitchen`. */
  subject?(resource: Resource<Infer<Spec>, Infer<Status>>): string;
  /** The field that makes it another object in the hub. Absent: none, or an id that a person chooses. */
  readonly identityField?: string;
  /** The id of an object that its resource keeps although an older one has the same identity. */
  keptObject?(resource: Resource<Infer<Spec>, Infer<Status>>): string | undefined;
  /**
   * The parts of its status that matter to the resources that refer to it: a change of one enqueues them, as does a
   * change of its spec. Absent: readiness, and all of the status but the conditions.
   */
  dependentStatus?(resource: Resource<Infer<Spec>, Infer<Status>>): unknown;
  /** The webhook is called for it: it has a rule there, or fields that a schema cannot check. */
  readonly validated?: true;
  /** Kinds of objects that its sync module creates and owns; a change to one reconciles the owner. */
  readonly owns?: readonly string[];
  /** Permissions of its sync module beyond reading its own kind and writing its status. */
  readonly access: readonly AccessRule[];
}

/** Gives the functions of a definition the types of its own spec and status. */
export function defineKind<const Spec extends Schema, const Status extends Schema, Name extends string>(
  definition: KindDefinition<Spec, Status, Name>,
): KindDefinition<Spec, Status, Name> {
  return definition;
}

/** `kind` is one of ours, `Secret` or `ConfigMap`. */
export interface Reference {
  readonly kind: string;
  /** The `metadata.name` of the object; or, of one of our kinds, its identity. */
  readonly name: string;
}

export interface Column {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'boolean' | 'date';
  readonly jsonPath: string;
  /** True: shown by `kubectl get -o wide` only. */
  readonly wide?: boolean;
}

export interface AccessRule {
  readonly apiGroup: string;
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}
