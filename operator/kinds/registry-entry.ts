import { type ChildDefinition, defineChild, hubObjectSpec } from './child';
import { icon } from './entity';
import { text } from './fields';
import { registryName } from './ids';
import type { KindDefinition } from './kind';
import type { Resource } from './resource';
import type { Field, Schema } from './schema';
import { hubObjectStatusWith } from './status';

/** Fields that floors, labels, areas and zones have in common. */

/**
 * Name of an entry. The pattern excludes blank names: the hub would accept one and create an entry with an
 * empty id.
 */
export const entryName = { type: 'string', pattern: '\\S', maxLength: 255 } as const satisfies Schema;

/** Text that the description of every optional field of a registry entry has to contain. */
export const keptWhenAbsent =
  'Absent: the value in the hub is kept. Removed from the spec: the value that the operator set is cleared.';

export const entryIcon = {
  ...icon,
  description: `Icon, of the form \`<prefix>:<name>\`, such as \`mdi:sofa\`. ${keptWhenAbsent}`,
} as const satisfies Schema;

export const aliases = {
  type: 'array',
  description: `Other names, for voice assistants; an empty list: none. ${keptWhenAbsent}`,
  items: { type: 'string', minLength: 1, maxLength: 255 },
  maxItems: 64,
  'x-kubernetes-list-type': 'set',
} as const satisfies Schema;

/**
 * The spec of a registry entry: hub, name, and the kind's own fields. @param noun `floor`, `label`, `area` or
 * `zone`
 */
export function registryEntrySpec<const Fields extends Record<string, Field>>(noun: string, fields: Fields) {
  return {
    type: 'object',
    description: `Desired state of the ${noun}.`,
    properties: {
      ...hubObjectSpec,
      name: {
        ...entryName,
        description: `Name of the ${noun}. The hub compares names without case and spaces; an existing ${noun} of this name is adopted. A changed name renames the ${noun}, which keeps its id.`,
      },
      ...fields,
    },
    required: ['hubRef', 'name'],
  } as const satisfies Schema;
}

/** The status of a registry entry: that of any object in the hub, and the id of the entry. */
export function registryEntryStatus<const Fields extends Record<string, Field>>(noun: string, id: Fields) {
  return hubObjectStatusWith({
    ...id,
    pendingName: text(
      `The name under which the operator is creating the ${noun}, as the hub compares names. Recorded before the ` +
        `${noun} is created: an operator that was killed meanwhile adopts the ${noun} of that name, which a person may ` +
        `have made, or names it if \`spec.name\` was changed.`,
    ),
  });
}

/** Defines a kind of registry entry. The hub identifies entries by their normalized name. */
export function defineRegistryEntry<
  const Spec extends Schema,
  const Status extends Schema,
  Name extends string,
>(definition: ChildDefinition<Spec, Status, Name>): KindDefinition<Spec, Status, Name> {
  return defineChild<Spec, Status, Name>({
    // A cast, because the compiler cannot see `name` in a spec that is a type parameter.
    identity: identityOfEntry as NonNullable<KindDefinition<Spec, Status>['identity']>,
    identityField: 'spec.name',
    ...definition,
  });
}

function identityOfEntry({ spec: { name } }: Resource<{ readonly name: string }>): string {
  return registryName(name);
}
