import * as definitions from './definitions';
import type { KindDefinition } from './kind';
import type { Resource } from './resource';
import type { Infer } from './schema';

export * from './definitions';

/** Beside their definitions, the files of the kinds export functions alone. */
type Definition = Extract<(typeof definitions)[keyof typeof definitions], object & { readonly kind: string }>;

/** `HubAutomation`, … */
export type Kind = Definition['kind'];

type DefinitionOf<K extends Kind> = Extract<Definition, { readonly kind: K }>;

/** The resource of a kind, as the API server gives it. */
export type ResourceOf<K extends Kind> = Resource<
  Infer<DefinitionOf<K>['spec']>,
  Infer<DefinitionOf<K>['status']>
>;

/** All kinds, in the order in which lists and pages show them. */
export const kinds = Object.values(definitions)
  .filter((exported): exported is Definition => typeof exported === 'object')
  .sort((a, b) => a.rank - b.rank || (a.kind < b.kind ? -1 : 1)) as readonly KindDefinition[];

/** The kinds by `kind`. */
export const kindsByName: ReadonlyMap<string, KindDefinition> = new Map(
  kinds.map((definition) => [definition.kind, definition]),
);

/** The kinds that the webhook is called for. */
export const validatedKinds: readonly KindDefinition[] = kinds.filter(({ validated }) => validated);

export type { Condition } from './condition';
export type { Resource, ResourceMetadata, OwnerReference } from './resource';
