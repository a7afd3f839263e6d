import type { Column, Reference } from './kind';
import { objectNames } from './object-names';
import type { Resource } from './resource';
import type { Field } from './schema';

/** What every kind but Hub shares: it belongs to a Hub of its namespace. */

export const suspend = {
  type: 'boolean',
  description:
    'True: the operator changes nothing in the hub or in the cluster for this resource until it is false again; ' +
    '`Ready` keeps its last value. A deletion is still carried out. Default false.',
  default: false,
} as const satisfies Field;

/** Spec fields of every child. `hubRef` belongs into `required`. */
export const childSpec = {
  hubRef: {
    type: 'object',
    description: 'The Hub that this resource belongs to. It may be created later: the resource waits for it.',
    properties: {
      name: {
        type: 'string',
        description: 'Name of the Hub, in the namespace of this resource. It cannot be changed.',
        minLength: 1,
        maxLength: 52,
        'x-kubernetes-validations': [
          {
            rule: 'self == oldSelf',
            message: 'hubRef.name cannot be changed: delete this resource and create it for the other Hub',
          },
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
      'Absent (default): it is removed if the operator created it, and stays if it was there before.',
    enum: ['Delete', 'Orphan'],
  },
  driftPolicy: {
    type: 'string',
    description:
      'What happens when someone changes the object in the hub itself. Correct (default): it is put back. Warn: it is ' +
      'only reported, in the condition and as an event.',
    enum: ['Correct', 'Warn'],
    default: 'Correct',
  },
} as const satisfies Record<string, Field>;

interface ChildSpec {
  readonly hubRef: { readonly name: string };
}

export function hubOfChild({ spec }: Resource<ChildSpec>): string {
  return spec.hubRef.name;
}

/** A change of the Hub (it became ready, it was deleted) concerns every child. */
export function hubReference({ spec }: Resource<ChildSpec>): Reference {
  return { kind: 'Hub', name: spec.hubRef.name };
}

/**
 * The references of a child that talks to the hub: a token that appears works it at once. A token Secret of another
 * name, or an external hub's, is a reference of the Hub, and reaches the children through the Hub's own change.
 */
export function talksToHub({ spec }: Resource<ChildSpec>): readonly Reference[] {
  const hub = spec.hubRef.name;
  return [
    { kind: 'Hub', name: hub },
    { kind: 'Secret', name: objectNames(hub).apiToken },
  ];
}

export const hubColumn = {
  name: 'Hub',
  type: 'string',
  jsonPath: '.spec.hubRef.name',
} as const satisfies Column;

export const readyColumn = {
  name: 'Ready',
  type: 'string',
  jsonPath: '.status.conditions[?(@.type=="Ready")].status',
} as const satisfies Column;
