import { kindsByName } from '../../operator/kinds';
import type { CustomResource } from '../../operator/kinds/resource';
import type { NotExpressed } from './config-entities';

/** The resources that the cluster has, as far as an export depends on them. */
export interface Present {
  /** Names of the resources of a kind, which no file gets. */
  readonly namesOf: (kind: string) => ReadonlySet<string>;
  /** Name of the resource of the Hub that has an object, or would adopt it. */
  readonly ownerOf: (object: NonNullable<NotExpressed['of']>) => string | undefined;
}

/** The resources are not looked at, or there are none. */
export const NO_RESOURCES: Present = { namesOf: () => new Set(), ownerOf: () => undefined };

/** The domain of an object. Two helpers of different types may have the same id. */
export const domainOf = (resource: Pick<CustomResource, 'kind' | 'spec'>): string =>
  kindsByName.get(resource.kind)!.ownEntity?.domainOf?.(resource as CustomResource) ?? '';
