import type { Resource } from './resource';

/** The id or name of a resource's object in the hub (rules.md, "Effective ids"). */

interface WithId {
  readonly id?: string;
  readonly hubId?: string;
}

/** The id of an automation or a scene: `spec.hubId`, else `spec.id`, else `metadata.name`. */
export function effectiveId({ metadata, spec }: Resource<WithId>): string {
  return spec.hubId || spec.id || (metadata.name ?? '');
}

/** The field that has it. */
export function fieldOfId({ spec }: { readonly spec: object }): 'spec.hubId' | 'spec.id' | 'metadata.name' {
  const { hubId, id } = spec as WithId;
  return hubId ? 'spec.hubId' : id ? 'spec.id' : 'metadata.name';
}

/**
 * Id of the script without actions by whose variables a hub shows which configuration it has read (rules.md, "Generated
 * configuration"). No other script may have it.
 */
export const MARKER_SCRIPT = 'hub_operator_configuration';

/** Whether a script is one of the operator's own. */
export const isMarker = (id: string): boolean => id === MARKER_SCRIPT || id.startsWith(DELIVERY_MARKER);

/** Id of the script that shows which content of a delivered ConfigMap the hub has read. No other script may have it. */
export const deliveryMarker = (index: number): string => `${DELIVERY_MARKER}${index}`;
const DELIVERY_MARKER = 'hub_operator_delivery_';

/** The id of a script: as above, but the hub accepts only slugs as script ids. `movie-night.v2` → `movie_night_v2` */
export function scriptId(script: Resource<WithId>): string {
  return effectiveId(script).replace(/[-._]+/g, '_');
}

/**
 * The name of a floor, label or area as the hub compares it, and of a zone as the operator does: case folded, spaces removed. `Ground  Floor` is
 * `groundfloor`, `Ground-Floor` is another name. Two names are equal to the hub exactly if they are equal here.
 */
export function registryName(name: string): string {
  return foldCase(name).replaceAll(' ', '');
}

/** JavaScript has no case folding. Lower case, upper case and lower case again tells apart what folding does. */
function foldCase(text: string): string {
  return text
    .split('ı') // its upper case is that of i
    .map((part) => part.toLowerCase().toUpperCase().toLowerCase().replaceAll('ς', 'σ'))
    .join('ı');
}
