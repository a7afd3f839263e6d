import { columnsOfChild } from './columns';
import { flagWithDefault, immutable } from './fields';
import { defineKind, type KindDefinition, type Reference } from './kind';
import { objectNames } from './object-names';
import type { Resource } from './resource';
import type { Field, Schema } from './schema';

/** What every kind but Hub shares: it belongs to a Hub of its namespace. */

export const suspend = flagWithDefault(
  false,
  'True: the operator changes nothing in the hub or in the cluster for this resource; `Ready` keeps its last value. ' +
    'A deletion is carried out. Default false.',
);

/** Spec fields of every child. `hubRef` belongs into `required`. */
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

/** A kind that belongs to a Hub; its names, its dependency on hub and token, and the columns Hub and Ready follow from that. */
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
    // The compiler cannot see `hubRef` in a spec that is a type parameter.
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

/** A change of the Hub concerns every child. */
export function hubReference({ spec }: Resource<ChildSpec>): Reference {
  return { kind: 'Hub', name: spec.hubRef.name };
}

/**
 * The references of a child that talks to the hub: it is reconciled as soon as the token appears. A token Secret of
 * another name, or an external hub's, is a reference of the Hub, and concerns children through the Hub's own change.
 */
export function hubAndToken(child: Resource<ChildSpec>): readonly Reference[] {
  return [hubReference(child), { kind: 'Secret', name: objectNames(hubOfChild(child)).apiToken }];
}
