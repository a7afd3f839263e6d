import { columnsOfChild } from './columns';
import { flagWithDefault, immutable } from './fields';
import { defineKind, type KindDefinition, type Reference } from './kind';
import { objectNames } from './object-names';
import type { Resource } from './resource';
import type { Field, Schema } from './schema';

/** Definitions that every kind but Hub shares: each resource belongs to a Hub in its namespace. */

export const suspend = flagWithDefault(
  false,
  'True: the operator changes nothing in the hub or in the cluster for this resource; `Ready` keeps its last value. ' +
    'A deletion is carried out. Default false.',
);

/** Spec fields of every child. The kind must list `hubRef` in `required`. */
export const childSpec = {
  hubRef: {
    type: 'object',
    description:
      'The Hub (Home Assistant instance) that this resource belongs to. It may be created later: the resource waits for it.',
    properties: {
      name: {
        type: 'string',
        description: 'Name of the Hub, in the namespace of this resource. It cannot be changed.',
        minLength: 1,
        maxLength: 52,
        'x-kubernetes-validations': [
          immutable('hubRef.name cannot be changed: delete this resource and create it for the other Hub'),
        ],
      },
    },
    required: ['name'],
  },
  suspend,
} as const satisfies Record<string, Field>;

/** Spec fields of the children that have an object in the hub. */
export const hubObjectSpec = {
  ...childSpec,
  deletionPolicy: {
    type: 'string',
    description:
      'What happens in the hub when this resource is deleted. Delete: the object is removed. Orphan: it stays. ' +
      'Absent (default): it is removed if the operator created it, and stays if it existed before.',
    enum: ['Delete', 'Orphan'],
  },
  driftPolicy: {
    type: 'string',
    description:
      'What happens when the object is changed in the hub itself. Correct (default): the change is reverted. ' +
      'Warn: the change is only reported, in the condition and as an event.',
    enum: ['Correct', 'Warn'],
    default: 'Correct',
  },
} as const satisfies Record<string, Field>;

interface ChildSpec {
  readonly hubRef: { readonly name: string };
}

/**
 * Definition of a kind that belongs to a Hub. Plural and singular names, references to hub and token, and the
 * columns Hub and Ready are derived.
 */
export type ChildDefinition<Spec extends Schema, Status extends Schema, Name extends string> = Omit<
  KindDefinition<Spec, Status, Name>,
  Derived
> &
  Partial<Pick<KindDefinition<Spec, Status>, Derived>>;

type Derived = 'plural' | 'singular' | 'hubName' | 'references' | 'access';

/** Defines a kind that belongs to a Hub. Its spec must have the fields of `childSpec`. */
export function defineChild<const Spec extends Schema, const Status extends Schema, Name extends string>(
  definition: ChildDefinition<Spec, Status, Name>,
): KindDefinition<Spec, Status, Name> {
  const singular = definition.kind.toLowerCase();
  return defineKind<Spec, Status, Name>({
    singular,
    plural: `${singular}s`,
    // Casts, because the compiler cannot see `hubRef` in a spec that is a type parameter.
    hubName: hubOfChild as KindDefinition<Spec, Status>['hubName'],
    references: hubAndToken as KindDefinition<Spec, Status>['references'],
    access: [],
    ...definition,
    columns: columnsOfChild(definition.columns),
  });
}

export function hubOfChild({ spec }: Resource<ChildSpec>): string {
  return spec.hubRef.name;
}

/** The reference to the Hub: every change of it is relevant to the child. */
export function hubReference({ spec }: Resource<ChildSpec>): Reference {
  return { kind: 'Hub', name: spec.hubRef.name };
}

/**
 * The references of a child that calls the hub's API. With the token as reference, the child is reconciled as
 * soon as the token appears. If the user chose another Secret for the token, or the hub is external, that
 * Secret is a reference of the Hub, and children are reconciled when the Hub changes.
 */
export function hubAndToken(child: Resource<ChildSpec>): readonly Reference[] {
  return [hubReference(child), { kind: 'Secret', name: objectNames(hubOfChild(child)).apiToken }];
}
