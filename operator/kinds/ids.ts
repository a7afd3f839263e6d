import type { Resource } from './resource';

/** The id or name in the hub of a resource's object (rules.md, "Effective ids"). */

interface WithId {
  readonly id?: string;
  readonly hubId?: string;
}

/** The id of an automation or a scene: `spec.hubId`, else `spec.id`, else `metadata.name`. */
export function effectiveId({ metadata, spec }: Resource<WithId>): string {
  return spec.hubId || spec.id || (metadata.name ?? '');
}

/** The field that contains the effective id. */
export function fieldOfId({ spec }: { readonly spec: object }): 'spec.hubId' | 'spec.id' | 'metadata.name' {
  const { hubId, id } = spec as WithId;
  return hubId ? 'spec.hubId' : id ? 'spec.id' : 'metadata.name';
}

/**
 * Id of a script without actions. Its variables show which configuration the hub has read (rules.md,
 * "Generated configuration"). No other script may have this id.
 */
export const MARKER_SCRIPT = 'hub_operator_configuration';

/** Whether a script is one of the operator's markers. */
export const isMarker = (id: string): boolean => id === MARKER_SCRIPT || id.startsWith(DELIVERY_MARKER);

/**
 * Id of the marker script that shows which content of a delivered ConfigMap the hub has read. No other script
 * may have this id.
 */
export const deliveryMarker = (index: number): string => `${DELIVERY_MARKER}${index}`;
const DELIVERY_MARKER = 'hub_operator_delivery_';

/**
 * The effective id of a script. The hub accepts only slugs as script ids: `movie-night.v2` becomes
 * `movie_night_v2`.
 */
export function scriptId(script: Resource<WithId>): string {
  return effectiveId(script).replace(/[-._]+/g, '_');
}

/** The id of a helper: `spec.id`, else `metadata.name` as the hub makes ids of names. `movie-night.v2` → `movie_night_v2` */
export function chosenId({ metadata, spec }: Resource<{ readonly id?: string }>): string {
  return spec.id || (metadata.name ?? '').replace(/[-.]+/g, '_');
}

/**
 * The normalized name of a floor, label, area or zone: case folded, spaces removed. `Ground  Floor` becomes
 * `groundfloor`, and `Ground-Floor` is another name. For floors, labels and areas the hub treats two names as
 * equal exactly if their normalized names are equal; for zones this is a rule of the operator.
 */
export function registryName(name: string): string {
  return foldCase(name).replaceAll(' ', '');
}

/**
 * Folds the case of a text, for which JavaScript has no function. Lower case, upper case and lower case again
 * distinguishes the same texts. The hub compares the names of categories in this form.
 */
export function foldCase(text: string): string {
  return text
    .split('ı') // the upper case of ı is the upper case of i
    .map((part) => part.toLowerCase().toUpperCase().toLowerCase().replaceAll('ς', 'σ'))
    .join('ı');
}
