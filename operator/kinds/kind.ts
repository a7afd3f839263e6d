import type { CustomResource, Resource } from './resource';
import type { CelRule, Infer, Schema } from './schema';

export type { CelRule };

/**
 * Definition of a kind as data. The CRD, the role, the watches, the labels of metrics and the docs are
 * derived from it.
 */
export interface KindDefinition<
  Spec extends Schema = Schema,
  Status extends Schema = Schema,
  Name extends string = string,
> {
  /** Name of the kind, such as `HubAutomation`. */
  readonly kind: Name;
  /** Lists and pages show kinds with a lower rank first, and sort equal ranks by name. */
  readonly rank: number;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  /** First sentences in `kubectl explain`. */
  readonly description: string;
  readonly spec: Spec;
  readonly status: Status;
  /**
   * CEL rules over the whole object, for fields that rules of `spec` and `status` cannot read
   * (`metadata.name`).
   */
  readonly rules?: readonly CelRule[];
  /** Columns of `kubectl get` between NAME and AGE. */
  readonly columns: readonly Column[];
  /** Paths by which `kubectl get --field-selector` selects, beside the Hub. */
  readonly selectableFields?: readonly string[];
  /** The name of the Hub that a resource belongs to: its own for a Hub, `spec.hubRef.name` for a child. */
  hubName(resource: Resource<Infer<Spec>, Infer<Status>>): string;
  /** Objects in the same namespace on which a resource depends. A change of one enqueues the resource. */
  references(resource: Resource<Infer<Spec>, Infer<Status>>): readonly Reference[];
  /**
   * Names of Secrets to which no other resource may refer. When the resource is created, is deleted or
   * changes this list, the resources that refer to one of the Secrets are reconciled.
   */
  reservedSecrets?(resource: Resource<Infer<Spec>, Infer<Status>>): readonly string[];
  /**
   * Identity of a resource's object in its hub, such as an id or a normalized name. It is unique among
   * resources of the same kind and hub: of two resources with one identity, the older one owns the object
   * (rules.md, "Ownership of objects in the hub"). Undefined while the identity is not known.
   */
  identity?(resource: Resource<Infer<Spec>, Infer<Status>>): string | undefined;
  /**
   * Names the object of a resource in messages, if kind and name of the resource do not: `settings of
   * light.kitchen`.
   */
  subject?(resource: Resource<Infer<Spec>, Infer<Status>>): string;
  /**
   * The field to change so that the resource stands for another object in the hub. Absent if no field does
   * that, or if it is an id that a user chooses.
   */
  readonly identityField?: string;
  /** The entity that the hub makes for the object, whose settings are in `spec.entity`. Absent: it has none of its own. */
  readonly ownEntity?: OwnEntity;
  /** The id of an object that its resource keeps although an older resource has the same identity. */
  keptObject?(resource: Resource<Infer<Spec>, Infer<Status>>): string | undefined;
  /**
   * The parts of the status that matter to resources that refer to this one: a change of one enqueues them,
   * like a change of the spec. Default: readiness, and all of the status except the conditions.
   */
  dependentStatus?(resource: Resource<Infer<Spec>, Infer<Status>>): unknown;
  /**
   * True if the API server sends the kind to the webhook, which has a rule for it or checks fields that a
   * schema cannot check.
   */
  readonly validated?: true;
  /**
   * Kinds of Kubernetes objects that its sync module creates and owns. A change of one reconciles the owner.
   */
  readonly owns?: readonly string[];
  /** Permissions of its sync module, in addition to reading the kind and writing its status. */
  readonly access: readonly AccessRule[];
}

/** Gives the functions of a definition the types of the kind's own spec and status. */
export function defineKind<const Spec extends Schema, const Status extends Schema, Name extends string>(
  definition: KindDefinition<Spec, Status, Name>,
): KindDefinition<Spec, Status, Name> {
  return definition;
}

/** How the hub registers the entities of the objects of a kind. */
export interface OwnEntity {
  /** The integrations that provide them, by the domains of the entities. */
  readonly integrations: Readonly<Record<string, string>>;
  /** The domain of the entity of one resource; absent: there is only one. */
  domainOf?(resource: CustomResource): string;
  /** The unique id of the entity of a resource that has none in status yet. Absent: the identity of the resource. */
  uniqueIdOf?(resource: CustomResource): string;
  /** Field of `status` with its unique id. */
  readonly idField: string;
  /** The page of the hub that sorts them into categories. Absent: none does. */
  readonly category?: 'automation' | 'scene' | 'script' | 'helpers';
}

/** The domain of the entity that a resource makes. */
export const ownDomain = (ownEntity: OwnEntity, resource: CustomResource): string =>
  ownEntity.domainOf?.(resource) ?? Object.keys(ownEntity.integrations)[0]!;

/** A reference to an object of an operator's kind, a Secret or a ConfigMap. */
export interface Reference {
  readonly kind: string;
  /** The `metadata.name` of the object, or the identity of an object of the operator's kinds. */
  readonly name: string;
}

export interface Column {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'boolean' | 'date';
  readonly jsonPath: string;
  /** If true, only `kubectl get -o wide` shows the column. */
  readonly wide?: boolean;
}

export interface AccessRule {
  readonly apiGroup: string;
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}
