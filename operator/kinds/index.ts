import * as definitions from './definitions';
import type { KindDefinition } from './kind';
import type { Resource } from './resource';
import type { Infer } from './schema';

export * from './definitions';

/** The definitions among the exports of the kinds' files, whose other exports are functions. */
type Definition = Extract<(typeof definitions)[keyof typeof definitions], object & { readonly kind: string }>;

/** The name of a kind, such as `HubAutomation`. */
export type Kind = Definition['kind'];

type DefinitionOf<K extends Kind> = Extract<Definition, { readonly kind: K }>;

/** The resource of a kind, in the form in which the API server returns it. */
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

/** The kinds whose resources the API server sends to the webhook. */
export const validatedKinds: readonly KindDefinition[] = kinds.filter(({ validated }) => validated);

export type { Condition } from './condition';
export type { Resource, ResourceMetadata, OwnerReference } from './resource';
